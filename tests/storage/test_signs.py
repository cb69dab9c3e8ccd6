"""What is held of the vectors in memory: the same as in the file, whoever changed it."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from drafts import NOW, draft, vectors, write

from memory_mcp.models import Filter, State
from memory_mcp.storage import SqliteStore
from memory_mcp.storage.database import Database
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.search import quantise, sign_bits
from memory_mcp.storage.signs import FACETS, Signs

pytestmark = pytest.mark.anyio

CHANGER = Path(__file__).with_name("changer.py")


class Changer:
    """Another process that has the file open, and does one thing after the other."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, str(CHANGER), str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, verb: str, argument: object) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{verb} {argument}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@pytest.fixture
def changer(store: SqliteStore, path: Path) -> Iterator[Changer]:
    other = Changer(path)
    yield other
    other.process.communicate(timeout=60)


async def held(database: Database, signs: Signs) -> list[tuple]:
    """All that is held, as rows: the facets, and how far each sentence is from one question; its vector, too."""

    def read(connection: Connection) -> list[tuple]:
        signs.refresh(connection)
        places = np.arange(len(signs.facets))
        nearest = signs.by_distance(sign_bits(vectors(1)[0]), places).first(len(places)).tolist()
        found = signs.vectors(connection, places)
        return [(*signs.facets[place].tolist(), found[place].tobytes()) for place in nearest]

    return await database.read(read)


async def stored(database: Database) -> list[tuple]:
    """The same, read anew from the file."""
    columns = ", ".join(FACETS.names or ())
    return await database.read(
        lambda at: [
            tuple(row)
            for row in at.execute(
                f"""
                select {columns}, vector from vec_bits join vec_full using (sentence)
                where model = (select value + 0 from setting where name = 'active_model')
                order by vec_distance_hamming(vec_bit(bits), vec_bit(:bits)), sentence
                """,
                {"bits": sign_bits(vectors(1)[0])},
            )
        ]
    )


async def test_whatever_another_process_does_is_seen_by_the_next_question(
    database: Database, store: SqliteStore, changer: Changer
):
    signs = Signs()
    assert await held(database, signs) == []
    one, two, _ = [changer.do("store", seed) for seed in (1, 2, 3)]
    rounds = [("archive", one), ("restore", one), ("move", two), ("embed", one), ("store", 4), ("forget", two),
              ("store", 5), ("forget", one)]  # fmt: skip
    for verb, argument in rounds:
        changer.do(verb, argument)
        found = await held(database, signs)
        assert found == await stored(database), verb
    assert len(found) == 3


async def test_a_search_finds_nothing_that_another_process_forgot_or_hid(store: SqliteStore, changer: Changer):
    async def near() -> list[str]:
        active = Filter(namespaces=("user",), states=(State.ACTIVE,))
        return [one for one, _ in await store.similar(vectors(1), active, 0.9, 5)]

    first, second = changer.do("store", 1), changer.do("store", 1001)
    assert await near() == [first]
    for verb, found in (("archive", []), ("restore", [first]), ("move", [])):
        changer.do(verb, first)
        assert await near() == found
    changer.do("forget", second)
    assert await near() == []
    assert await near() == []


async def test_nothing_of_what_was_forgotten_is_held_after_the_next_question(store: SqliteStore, database: Database):
    signs = Signs()
    gone, kept = await write(store, draft("one", seed=1), draft("two", seed=2))
    assert len(await held(database, signs)) == 2
    await store.forget([gone], now=NOW, door="cli")
    [(_, row, *_, vector)] = await held(database, signs)
    assert [one.id for one in (await store.rows([row])).values()] == [kept]
    assert vector == quantise(vectors(2)[0])
    assert len(signs.facets) == 1
    assert quantise(vectors(1)[0]) not in signs._vectors[:2].tobytes()  # what was written of the buffer


async def test_sentences_that_change_their_model_are_held_as_the_file_says(database: Database, store: SqliteStore):
    signs = Signs()
    await write(store, draft("one", seed=1), draft("two", seed=2), draft("three", seed=3))
    for sentences, number in (("1, 2", 9), ("1", 1)):
        await database.write(
            lambda at, sentences=sentences, number=number: (
                at.execute("insert or ignore into embedding_model values (9, 'other', 'x', 64, 1, 0, '')"),
                at.execute(f"update vec_bits set model = {number} where sentence in ({sentences})"),
            )
        )
        assert await held(database, signs) == await stored(database)
    assert len(signs.facets) == 2


async def test_what_this_connection_changes_itself_is_seen_too(database: Database, store: SqliteStore):
    signs = Signs()
    await write(store, draft("one", seed=1))

    def change_and_look(connection: Connection) -> int:
        signs.refresh(connection)
        connection.execute("delete from memory")
        signs.refresh(connection)
        return len(signs.facets)

    assert await database.write(change_and_look) == 0


async def test_vectors_of_another_model_are_held_as_soon_as_that_one_is_active(database: Database, store: SqliteStore):
    def prepare(connection: Connection) -> None:
        connection.execute("insert into embedding_model values (9, 'other', 'x', 64, 1, 0, '')")
        connection.execute(
            """
            insert into vec_bits
            select null, memory, 9, namespace, kind, state, trust, created_at, :bits from vec_bits
            """,
            {"bits": sign_bits(vectors(3)[0])},
        )
        connection.execute(
            "insert into vec_full select sentence, :vector from vec_bits where model = 9",
            {"vector": quantise(vectors(3)[0])},
        )

    signs = Signs()
    await write(store, draft("one", seed=1), draft("two", seed=2))
    await database.write(prepare)
    before = await held(database, signs)
    assert before == await stored(database)
    await database.write(lambda at: at.execute("update setting set value = '9' where name = 'active_model'"))
    after = await held(database, signs)
    assert after == await stored(database)
    assert len(before) == len(after) == 2
    assert before != after


async def test_after_everything_was_erased_nothing_is_held(store: SqliteStore, database: Database):
    signs = Signs()
    await write(store, draft("one", seed=1))
    assert len(await held(database, signs)) == 1
    await store.wipe(1, door="cli")
    assert await held(database, signs) == []


async def test_a_store_at_rest_holds_nothing_and_finds_the_same_when_it_is_asked_again(store: SqliteStore):
    def holding() -> int:
        gc.collect()
        return sum(type(one) is Signs for one in gc.get_objects())  # isinstance wakes objects of other libraries

    others = holding()

    await write(store, draft("one", seed=1), draft("two", seed=2))
    found = await store.similar(vectors(1), Filter(), 0.9, 5)
    assert holding() == others + 1
    store.rest()
    await store.changes()  # a thread keeps its last errand until the next
    assert holding() == others
    assert await store.similar(vectors(1), Filter(), 0.9, 5) == found


async def test_a_sentence_whose_vector_is_lost_is_near_nothing(store: SqliteStore, database: Database):
    _, two = await write(store, draft("one", seed=1), draft("two", seed=2))
    await database.write(lambda at: at.execute("delete from vec_full where sentence = 1"))
    assert [name for name, _ in await store.similar(vectors(1), Filter(), -1.0, 5)] == [two]


@pytest.mark.parametrize("dimension", [8, 64, 100, 512])
def test_distances_count_the_signs_that_differ(dimension: int):
    chance = np.random.default_rng(dimension)
    known = chance.standard_normal((50, dimension)).astype(np.float32)
    signs, question = Signs(), known[7]
    facets = np.zeros(50, FACETS)
    facets["sentence"] = np.arange(1, 51)
    signs.add(facets, [sign_bits(vector) for vector in known])
    differing = ((known > 0) != (question > 0)).sum(axis=1)
    order = np.argsort(differing, kind="stable")
    places = np.arange(50)
    assert signs.by_distance(sign_bits(question), places).first(9).tolist() == order[:9].tolist()
    odd = places[1::2]
    expected = [place for place in order.tolist() if place % 2]
    assert signs.by_distance(sign_bits(question), odd).first(99).tolist() == expected
