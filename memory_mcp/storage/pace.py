"""How many memories may come in by one door within a minute, counted in the file for all processes together."""

from memory_mcp.errors import TooFast
from memory_mcp.storage.audit import STORE, SUMMARIZE, Act
from memory_mcp.storage.driver import Connection

MINUTE = 60_000
"""Milliseconds."""


def require_slow_stores(connection: Connection, most: int, act: Act) -> None:
    """Raise `TooFast` where so many memories came in within a minute, by whatever call."""
    _require(connection, most, act, "", "Wait {seconds}, or put them into one summarize call.")


def require_slow_summaries(connection: Connection, most: int, act: Act) -> None:
    """Raise `TooFast` where summaries alone brought in so many; one more is no refuge from it."""
    _require(connection, most, act, STORE, "Wait {seconds}.")


def _require(connection: Connection, most: int, act: Act, uncounted: str, advice: str) -> None:
    stored, at = connection.execute(
        """
        select max(stored), max(at) filter (where stored >= :most) from (
            -- A store is one memory; where it counts more, it kept the messages of one call of summarize.
            select at, sum(iif(verb = :store, 1, count)) over (order by at desc, number desc) as stored from audit
            where at > :since and at <= :now and door = :door and verb in (:store, :summarize) and verb <> :uncounted
        )
        """,
        {
            "most": most,
            "since": act.now - MINUTE,
            "now": act.now,
            "door": act.door,
            "store": STORE,
            "summarize": SUMMARIZE,
            "uncounted": uncounted,
        },
    ).fetchone()
    if at is None:
        return
    seconds = -(-(at + MINUTE - act.now) // 1_000)
    wait = advice.format(seconds="1 second" if seconds == 1 else f"{seconds} seconds")
    raise TooFast(
        f"Nothing was saved: {stored} memories were stored within a minute, the limit is {most}"
        f" (MEMORY_MCP_STORES_A_MINUTE). {wait}"
    )
