"""Which memories were kept before there was a rule by which they command the assistant."""

import json
from collections.abc import Sequence

from memory_mcp.injection import ORDERS_VERSION, commands_assistant
from memory_mcp.storage.driver import Connection


def are_current(connection: Connection) -> bool:
    """Whether all memories were judged by the rules of this version."""
    found = connection.execute("select value from setting where name = 'orders_version'").fetchone()
    return found is not None and found[0] == str(ORDERS_VERSION)


def overlooked(connection: Connection) -> list[int]:
    """Give the rows that command the assistant and are neither flagged nor vouched for."""
    found = connection.execute(
        """
        select m.row, m.content, n.name, m.key, m.title, m.speaker, coalesce(s.id, ''), coalesce(e.trigger, ''),
               (select json_group_array(name) from (
                    select name from tag where memory = m.row union all select tool from action where episode = m.row))
        from memory m join namespace n on n.number = m.namespace left join session s on s.number = m.session
        left join episode e on e.memory = m.row
        where m.flagged = 0
        """
    )
    return [row for row, *texts, names in found if commands_assistant(*texts, *json.loads(names))]


def flag(connection: Connection, rows: Sequence[int]) -> None:
    """Flag these, and note that all are judged."""
    connection.execute(
        "update memory set flagged = 1 where flagged = 0 and row in (select value from json_each(:rows))",
        {"rows": json.dumps(rows)},
    )
    connection.execute(
        "insert or replace into setting (name, value) values ('orders_version', :version)",
        {"version": str(ORDERS_VERSION)},
    )
