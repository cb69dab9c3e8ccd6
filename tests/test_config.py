from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st

from memory_mcp.config import Settings, default_database, given, variable
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Kind


def test_without_variables_the_file_lies_in_the_platforms_folder_for_user_data():
    """B08: not inside the installed package, where an upgrade would remove it."""
    settings = Settings.from_env({})
    assert settings.db == default_database()
    assert settings.db.is_absolute()
    assert "site-packages" not in settings.db.parts


@pytest.mark.parametrize("value", ["", "   ", "${MEMORY_MCP_DB}", "${user_config.data_dir}"])
def test_an_empty_or_unexpanded_value_counts_as_unset(value):
    assert Settings.from_env({"MEMORY_MCP_DB": value}).db == default_database()
    assert given({"MEMORY_MCP_DB": value}) == {}


def test_a_tilde_is_the_home_folder():
    assert Settings.from_env({"MEMORY_MCP_DB": "~/x.db"}).db == Path.home() / "x.db"


def test_a_relative_path_is_taken_from_the_current_folder():
    assert Settings.from_env({"MEMORY_MCP_DB": "x.db"}).db == Path.cwd() / "x.db"


def test_the_zones_of_the_world_are_known():
    assert Settings.from_env({"MEMORY_MCP_TZ": "Asia/Tokyo"}).tz == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("value", "days"),
    [
        ("turn=30", {Kind.TURN: 30, Kind.EPISODE: 180, Kind.FACT: None}),
        ("lean", {Kind.EPISODE: 30, Kind.TURN: 90}),
        ("lean, Episode=365", {Kind.EPISODE: 365}),
        ("turn=never,fact=7", {Kind.TURN: None, Kind.FACT: 7}),
        ("fact=36500", {Kind.FACT: 36_500}),
    ],
)
def test_times_to_live_are_set_by_kind(value, days):
    settings = Settings.from_env({"MEMORY_MCP_TTL": value})
    for kind, count in days.items():
        assert settings.lifetime(kind) == (None if count is None else timedelta(days=count))


@pytest.mark.parametrize("value", ["on", "ON", "true", "1", "yes"])
def test_capture_is_switched_on_by_any_usual_word(value):
    assert Settings.from_env({"MEMORY_MCP_CAPTURE": value}).capture


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MEMORY_MCP_TZ", "Mars/Olympus", "Asia/Tokyo"),
        ("MEMORY_MCP_TZ", "../../etc/passwd", "Asia/Tokyo"),
        ("MEMORY_MCP_TZ", "Asia", "Asia/Tokyo"),
        ("MEMORY_MCP_TTL", "turn=soon", "turn=30"),
        ("MEMORY_MCP_TTL", "gossip=3", "turn=30"),
        ("MEMORY_MCP_TTL", "fact=36501", "at most 36500"),
        ("MEMORY_MCP_TTL", "fact=999999999999", "at most 36500"),
        ("MEMORY_MCP_TTL", "fact=" + "9" * 5_000, "at most 36500"),
        ("MEMORY_MCP_TZ", "x" * 5_000, "Asia/Tokyo"),
        ("MEMORY_MCP_DB", "${" + "x" * 5_000, "${...}"),
        ("MEMORY_MCP_CAPTURE", "maybe", "on or off"),
        ("MEMORY_MCP_LOG", "loud", "warning"),
        ("MEMORY_MCP_SUMMARIZER", "oracle", "extractive"),
        ("MEMORY_MCP_CONTEXT_TOKENS", "many", "integer"),
        ("MEMORY_MCP_CONTEXT_TOKENS", "1", "1000"),
        ("MEMORY_MCP_NAMESPACE", "x" * 201, "200"),
        ("MEMORY_MCP_DB", "${HOME}/memory.db", "${...}"),
        ("MEMORY_MCP_DB", "~nobody-here/memory.db", "home folder"),
    ],
)
def test_an_unusable_value_is_refused_by_name_with_the_right_form(name, value, says):
    with pytest.raises(InvalidInput) as error:
        Settings.from_env({name: value})
    assert name in str(error.value)
    assert says in str(error.value)
    assert len(str(error.value)) < 250


KEY = "0123456789abcdef" * 4


def test_a_key_is_never_shown():
    settings = Settings.from_env({"MEMORY_MCP_KEY": KEY})
    assert settings.encryption_key() == KEY
    assert KEY not in repr(settings)
    assert KEY not in str(settings.key)


def test_a_key_file_is_read_and_goes_before_the_inline_key(tmp_path):
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    settings = Settings.from_env({"MEMORY_MCP_KEY_FILE": str(path), "MEMORY_MCP_KEY": "f" * 64})
    assert settings.encryption_key() == KEY


@pytest.mark.parametrize("content", [b"", b"short", b"\xff\xfe" * 32, b"g" * 64])
def test_a_key_file_without_a_key_is_refused_and_not_quoted(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="64 hex digits") as error:
        Settings.from_env({"MEMORY_MCP_KEY_FILE": str(path)}).encryption_key()
    assert "short" not in str(error.value)


def test_a_missing_key_file_is_an_error_and_not_a_file_without_encryption(tmp_path):
    with pytest.raises(InvalidInput, match="MEMORY_MCP_KEY_FILE"):
        Settings.from_env({"MEMORY_MCP_KEY_FILE": str(tmp_path / "none")}).encryption_key()


def test_no_key_means_no_encryption():
    assert Settings.from_env({}).encryption_key() == ""


def test_every_setting_says_what_it_is_for():
    assert all(field.description for field in Settings.model_fields.values())


@for_any(st.dictionaries(st.sampled_from(sorted(Settings.model_fields)), st.text(max_size=40)))
def test_any_environment_is_read_or_refused_by_name(values):
    refused = ""
    try:
        assert Settings.from_env({variable(name): value for name, value in values.items()}).db.is_absolute()
    except InvalidInput as error:
        refused = str(error)
    assert not refused or any(refused.startswith(variable(name)) for name in values)


def test_nothing_expires_where_never_is_the_lifetime():
    settings = Settings.from_env({"MEMORY_MCP_TTL": "never"})
    assert {settings.lifetime(kind) for kind in Kind} == {None}
