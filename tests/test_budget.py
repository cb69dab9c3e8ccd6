"""What may be spent: so much a day, of the person's own days."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_mcp.budget import DailyBudget
from memory_mcp.config import Settings
from memory_mcp.storage import open_store
from memory_mcp.storage.protocol import Store
from tests.conftest import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[Store]:
    opened = await open_store(settings.db, now=Clock())
    yield opened
    await opened.close()


async def test_each_day_of_the_person_s_calendar_has_its_own(store: Store):
    clock = Clock(datetime(2026, 5, 4, 14, 30, tzinfo=UTC))
    tokyo = DailyBudget(store, 0.5, ZoneInfo("Asia/Tokyo"), clock)
    await tokyo.spend(0.4)
    assert await tokyo.left() == pytest.approx(0.1)
    clock.turn(minutes=29)
    assert await tokyo.left() == pytest.approx(0.1)
    clock.turn(minutes=1)
    assert await tokyo.left() == pytest.approx(0.5)


async def test_what_was_taken_too_much_is_given_back(store: Store):
    budget = DailyBudget(store, 0.5, UTC, Clock())
    await budget.spend(0.3)
    await budget.spend(-0.2)
    assert await budget.left() == pytest.approx(0.4)
