"""What may still be spent today on a paid service, counted in the file for all processes together."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memory_mcp.storage.protocol import Store


@dataclass(frozen=True)
class DailyBudget:
    """So many dollars for each of the person's days."""

    db: Store
    dollars: float
    zone: tzinfo
    now: Callable[[], datetime]

    async def left(self) -> float:
        """What is left of today's."""
        return self.dollars - await self.db.spent(self._today())

    async def spend(self, dollars: float) -> None:
        """Count what was spent, or with a negative number given back."""
        await self.db.spend(self._today(), dollars)

    def _today(self) -> str:
        return self.now().astimezone(self.zone).date().isoformat()
