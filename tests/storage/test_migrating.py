import os
from pathlib import Path

import pytest
from drafts import NOW, draft
from files import ACT, FIRST, KEY, KNOWN, contents, mode, raw

from memory_mcp.errors import (
    StoreUnavailable,
)
from memory_mcp.models import Filter
from memory_mcp.storage import driver, memories, open_store, schema
from memory_mcp.storage.database import Database, open_database
from memory_mcp.storage.values import Probe

pytestmark = pytest.mark.anyio


NEXT = schema.Migration(
    len(KNOWN) + 1,
    """
    -- A later step, with all that makes splitting hard; and a semicolon in a comment.
    alter table memory add column mood text not null default 'a;b';
    create table feeling (name text primary key) strict;  -- after a statement
    create trigger felt after insert on feeling begin
        delete from feeling where name = 'none';
        delete from feeling where name = ';';
    end;
    """,
)


async def objects(database: Database) -> list[tuple[str, str]]:
    def read(connection: driver.Connection) -> list[tuple[str, str]]:
        found = connection.execute("select name, sql from sqlite_master order by name").fetchall()
        return [(name, sql) for name, sql in found]

    return await database.read(read)


async def test_an_upgraded_file_equals_a_fresh_one_and_keeps_its_memories(tmp_path: Path):
    """B14: nothing is lost by an upgrade, and a backup is made first."""
    old = await open_database(tmp_path / "old.db", migrations=KNOWN)
    await old.write(memories.write, [draft("kept through the upgrade")], ACT)
    await old.close()
    upgraded = await open_database(tmp_path / "old.db", migrations=[*KNOWN, NEXT])
    fresh = await open_database(tmp_path / "fresh.db", migrations=[*KNOWN, NEXT])
    assert await objects(upgraded) == await objects(fresh)
    assert await upgraded.read(schema.version) == NEXT.number
    assert await contents(upgraded) == ["kept through the upgrade"]
    await upgraded.close()
    await fresh.close()
    [backup] = schema.backups(tmp_path / "old.db")
    assert schema.backups(tmp_path / "fresh.db") == []
    restored = await open_database(backup, migrations=KNOWN)
    assert await contents(restored) == ["kept through the upgrade"]
    await restored.close()
    assert os.name == "nt" or mode(backup) == 0o600


async def test_the_backup_of_an_encrypted_file_is_encrypted(path: Path):
    old = await open_database(path, key=KEY, migrations=KNOWN)
    await old.write(memories.write, [draft("a secret garden")], ACT)
    await old.close()
    await (await open_database(path, key=KEY, migrations=[*KNOWN, NEXT])).close()
    [backup] = schema.backups(path)
    assert b"a secret garden" not in raw(backup)
    restored = await open_database(backup, key=KEY, migrations=KNOWN)
    assert await contents(restored) == ["a secret garden"]
    await restored.close()


async def test_a_migration_that_fails_changes_nothing(path: Path):
    old = await open_database(path, migrations=KNOWN)
    await old.write(memories.write, [draft("still here")], ACT)
    before = await objects(old)
    await old.close()
    broken = schema.Migration(NEXT.number, "create table half (a text) strict; create table memory (a text);")
    with pytest.raises(StoreUnavailable, match="Nothing was saved"):
        await open_database(path, migrations=[*KNOWN, broken])
    again = await open_database(path, migrations=KNOWN)
    assert (await objects(again), await contents(again)) == (before, ["still here"])
    await again.close()


async def test_a_file_with_the_tokens_of_another_version_is_indexed_again(path: Path):
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft("the harbour is closed")], door="cli")
    await store.close()
    database = await open_database(path)
    await database.maintain(
        lambda at: at.executescript(
            "update setting set value = '0' where name = 'tokens_version';"
            "insert into fulltext (fulltext) values ('delete-all');"
        )
    )
    await database.close()
    store = await open_store(path, now=lambda: NOW)
    assert (await store.search(Probe(None, ("harbour",), Filter()))).rows.tolist() == [1]
    assert (await store.check()).problems == ()
    await store.close()


async def test_what_an_older_version_was_told_to_forget_stays_forgotten(path: Path):
    old = await open_database(path, migrations=FIRST)
    await old.maintain(
        lambda at: at.executescript(
            "insert into forgotten values ('claude-code', 's1', 'm1', '', 5), ('', '', '', 'an-id', 6)"
        )
    )
    await old.close()
    store = await open_store(path, now=lambda: NOW)
    told = {(one.what, one.host, one.session_id, one.message_id, one.memory_id) for one in await store.blocks(10)}
    assert told == {("message", "claude-code", "s1", "m1", ""), ("memory", "", "", "", "an-id")}
    await store.close()
