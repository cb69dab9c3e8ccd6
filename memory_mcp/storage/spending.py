"""What a paid service cost, by the day."""

from memory_mcp.storage.driver import Connection

MICRO = 1_000_000


def spent(connection: Connection, day: str) -> float:
    """Read what was spent on a day, in dollars."""
    found = connection.execute("select microdollars from spending where day = :day", {"day": day}).fetchone()
    return found[0] / MICRO if found else 0.0


def spend(connection: Connection, day: str, dollars: float) -> None:
    """Add to what was spent on a day; a negative number gives back."""
    connection.execute(
        """
        insert into spending (day, microdollars) values (:day, max(0, :micro))
        on conflict (day) do update set microdollars = max(0, microdollars + :micro)
        """,
        {"day": day, "micro": round(dollars * MICRO)},
    )
