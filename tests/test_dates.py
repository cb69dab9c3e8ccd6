"""One rule for times: instants are instants, days are the user's own."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.dates import Span, read_span, show, show_day, since, until, zone
from memory_mcp.errors import InvalidInput

TOKYO, LOS_ANGELES, BEIRUT = ZoneInfo("Asia/Tokyo"), ZoneInfo("America/Los_Angeles"), ZoneInfo("Asia/Beirut")
NOON = datetime(2026, 5, 6, 12, tzinfo=TOKYO)  # a Wednesday


def local(span: Span, of: ZoneInfo) -> tuple[str, str]:
    return tuple(f"{at.astimezone(of):%Y-%m-%d %H:%M}" for at in (span.start, span.end))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-05-03", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("2026/5/3", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("2026年5月3日", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("2026-05", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("2025年12月", "2025-12-01 00:00", "2026-01-01 00:00"),
        ("2026", "2026-01-01 00:00", "2027-01-01 00:00"),
        ("2024-02-29", "2024-02-29 00:00", "2024-03-01 00:00"),
        (" Today ", "2026-05-06 00:00", "2026-05-07 00:00"),
        ("yesterday", "2026-05-05 00:00", "2026-05-06 00:00"),
        ("tomorrow", "2026-05-07 00:00", "2026-05-08 00:00"),
        ("this week", "2026-05-04 00:00", "2026-05-11 00:00"),
        ("last week", "2026-04-27 00:00", "2026-05-04 00:00"),
        ("this month", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("last month", "2026-04-01 00:00", "2026-05-01 00:00"),
        ("this year", "2026-01-01 00:00", "2027-01-01 00:00"),
        ("last year", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("今日", "2026-05-06 00:00", "2026-05-07 00:00"),
        ("昨日", "2026-05-05 00:00", "2026-05-06 00:00"),
        ("一昨日", "2026-05-04 00:00", "2026-05-05 00:00"),
        ("今週", "2026-05-04 00:00", "2026-05-11 00:00"),
        ("先週", "2026-04-27 00:00", "2026-05-04 00:00"),
        ("今月", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("先月", "2026-04-01 00:00", "2026-05-01 00:00"),
        ("今年", "2026-01-01 00:00", "2027-01-01 00:00"),
        ("去年", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("last 7 days", "2026-04-29 00:00", "2026-05-07 00:00"),
        ("past 2 weeks", "2026-04-22 00:00", "2026-05-07 00:00"),
        ("the last 3 months", "2026-02-06 00:00", "2026-05-07 00:00"),
        ("last 2 hours", "2026-05-06 10:00", "2026-05-07 00:00"),
        ("過去７日間", "2026-04-29 00:00", "2026-05-07 00:00"),
        ("3 days ago", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("a week ago", "2026-04-29 00:00", "2026-04-30 00:00"),
        ("3日前", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("2か月前", "2026-03-06 00:00", "2026-03-07 00:00"),
        ("an hour ago", "2026-05-06 11:00", "2026-05-06 11:00"),
        ("now", "2026-05-06 12:00", "2026-05-06 12:00"),
        ("2026-05-03T14:30:00+09:00", "2026-05-03 14:30", "2026-05-03 14:30"),
        ("2026-05-03T05:30:00Z", "2026-05-03 14:30", "2026-05-03 14:30"),
        ("2026-05-03 14:30", "2026-05-03 14:30", "2026-05-03 14:30"),
        ("2026-05-03T14:30:00.250+0900", "2026-05-03 14:30", "2026-05-03 14:30"),
    ],
)
def test_dates_and_words_are_read_on_the_users_calendar(text, start, end):
    assert local(read_span(text, zone=TOKYO, now=NOON), TOKYO) == (start, end)


def test_a_month_ago_from_a_day_the_month_lacks_is_its_last_day():
    late = datetime(2026, 3, 31, 12, tzinfo=TOKYO)
    assert local(read_span("1 month ago", zone=TOKYO, now=late), TOKYO)[0] == "2026-02-28 00:00"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "2026-02-30",
            "2026-13",
            "2026-00-01",
            "0000",
            "9999",
            "soon",
            "20260503",
            "2026-05-03T25:00",
            "5/3",
        ),
        *("0001-01-01", "0999-12-31", "9001", "9999-12-31", "0001-01-01T00:00Z", "9999-12-31T23:59:59+00:00"),
        *("last 9999 years", "2026-05-03T10:00+99:00", "2026-05-03Z", "-1 days ago", "last x days", "\0", "9" * 5_000),
    ],
)
def test_what_is_no_date_is_refused_with_the_accepted_forms(text):
    with pytest.raises(InvalidInput, match=r"2026-05-03.*yesterday") as refusal:
        read_span(text, zone=TOKYO, now=NOON)
    assert len(str(refusal.value)) < 400


CLOCK_CHANGES = [
    (TOKYO, "2026-05-06", 24),
    (LOS_ANGELES, "2026-05-06", 24),
    (LOS_ANGELES, "2026-03-08", 23),
    (LOS_ANGELES, "2026-11-01", 25),
    (BEIRUT, "2026-03-29", 23),  # its clock skips from 00:00 to 01:00: the day has no midnight
    (BEIRUT, "2026-10-24", 25),
]


@pytest.mark.parametrize(("zone_", "day", "hours"), CLOCK_CHANGES)
def test_half_past_eleven_and_half_past_midnight_fall_on_their_own_days(zone_, day, hours):
    """B23: around midnight, also on the days of a clock change, the same rule for today, yesterday and dates."""
    today = datetime.fromisoformat(day).replace(hour=12, tzinfo=zone_)
    span = read_span("today", zone=zone_, now=today)
    assert span == read_span(day, zone=zone_, now=NOON)
    assert span.end - span.start == timedelta(hours=hours)

    before_midnight = (today - timedelta(days=1)).replace(hour=23, minute=30)
    after_midnight = span.start + timedelta(minutes=30)
    yesterday = read_span("yesterday", zone=zone_, now=today)
    assert yesterday.start <= before_midnight.astimezone(UTC) < yesterday.end == span.start <= after_midnight < span.end
    assert show_day(after_midnight, zone_) == day
    assert read_span("last 7 days", zone=zone_, now=today).end == span.end


def test_since_a_day_begins_with_it_and_until_a_day_includes_it():
    """B23"""
    asked = {"zone": LOS_ANGELES, "now": NOON}
    assert since("2026-05-03", **asked) == datetime(2026, 5, 3, 7, tzinfo=UTC)
    assert until("2026-05-03", **asked) == datetime(2026, 5, 4, 7, tzinfo=UTC)
    stamp = "2026-05-03T23:30:00+09:00"
    assert since(stamp, **asked) == until(stamp, **asked) == datetime(2026, 5, 3, 14, 30, tzinfo=UTC)


@given(
    st.sampled_from(["today", "先週", "last 3 months", "2 days ago", "5 hours ago", "2026-03", "last year", "now"])
    | st.dates().map(str)
    | st.text(),
    st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.sampled_from(["Asia/Tokyo", "America/Los_Angeles", "Asia/Beirut", "Pacific/Apia", "Australia/Lord_Howe", "UTC"]),
)
def test_a_span_never_ends_before_it_starts_and_is_in_utc(text, now, name):
    try:
        span = read_span(text, zone=ZoneInfo(name), now=now)
    except InvalidInput:
        return
    assert span.start <= span.end
    assert span.start.tzinfo is span.end.tzinfo is UTC


def test_a_text_too_long_to_be_a_date_is_refused_before_it_is_read():
    with pytest.raises(InvalidInput):
        read_span("2026-05-03" + " " * 100, zone=TOKYO, now=NOON)


@pytest.mark.parametrize("zone_", [TOKYO, LOS_ANGELES, zone("")])
@pytest.mark.parametrize(
    ("instant", "day"), [(datetime.min.replace(tzinfo=UTC), "-01-01"), (datetime.max.replace(tzinfo=UTC), "9999-12-31")]
)
def test_an_instant_that_the_users_clock_cannot_show_is_shown_in_utc(instant, day, zone_):
    """One such row must not make a whole listing fail."""
    assert day in show(instant, zone_)
    assert show_day(instant, zone_).endswith(day)


def test_times_are_shown_on_the_users_clock_with_the_zone():
    instant = datetime(2026, 7, 1, 23, 30, tzinfo=UTC)
    assert show(instant, TOKYO) == "2026-07-02 08:30 JST"
    assert show(instant, LOS_ANGELES) == "2026-07-01 16:30 PDT"
    assert show_day(instant, TOKYO) == "2026-07-02"


@pytest.mark.parametrize("name", ["Nope/Nowhere", "America", "../etc", "/etc/localtime", "\0", "x" * 5_000, "JST-9"])
def test_an_unknown_zone_is_refused_with_an_example(name):
    with pytest.raises(InvalidInput, match="Asia/Tokyo"):
        zone(name)


def test_a_zone_is_found_by_name():
    assert zone("Asia/Tokyo") == TOKYO


@pytest.mark.skipif(sys.platform == "win32", reason="Windows takes its zone from the control panel, not from TZ")
def test_the_computers_own_zone_follows_its_clock_changes():
    program = (
        "from datetime import *; from memory_mcp.dates import *\n"
        "z = zone(''); at = datetime(2026, 11, 1, 8, 30, tzinfo=UTC)\n"
        "for hours in (0, 1, 24): print(show(at + timedelta(hours=hours), z))\n"
        "day = read_span('2026-11-01', zone=z, now=at); print(day.end - day.start)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TZ": "America/Los_Angeles"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines() == [
        "2026-11-01 01:30 PDT",
        "2026-11-01 01:30 PST",
        "2026-11-02 00:30 PST",
        "1 day, 1:00:00",
    ]
