"""How times are read and shown: kept in UTC; days, and clocks without an offset, are the user's own."""

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory_mcp.errors import InvalidInput

FORMS = (
    "an instant (2026-05-03T14:30:00+09:00), a day (2026-05-03), a month (2026-05), a year (2026), or words: "
    "today, yesterday, this or last week, month or year, last 7 days, 3 days ago, 昨日, 先週, 3日前"
)

EARLIEST, LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 12, 31, tzinfo=UTC)
"""Beyond these lie slips of the pen, and instants that the clock of some zone cannot show."""

MAX_LENGTH = 100
"""Characters; no date is longer."""


@dataclass(frozen=True)
class Span:
    """A stretch between two aware instants in UTC, its end excluded. An instant is a span of no length."""

    start: datetime
    end: datetime


def read_span(text: str, *, zone: tzinfo, now: datetime) -> Span:
    """Read what a person or a model wrote for a time.

    An ISO 8601 instant is itself; without an offset it is on the user's clock. Days, months and years are
    whole ones of the user's calendar, weeks begin on Monday. "3 days ago" is that day, "2 hours ago" an
    instant; "last 7 days" begins with the day seven days ago and ends with today, "last 2 hours" begins at
    that instant. All else, a date that does not exist, and one outside the years 1000 to 9000 raises `InvalidInput`.
    """
    try:
        span = _read(text, zone, now) if len(text) <= MAX_LENGTH else None
    except (ValueError, OverflowError):
        span = None
    if span is None or span.start < EARLIEST or span.end > LATEST:
        raise InvalidInput(f"Cannot read {text[:60]!r} as a date. Write {FORMS}.")
    return span


def _read(text: str, zone: tzinfo, now: datetime) -> Span | None:
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    local = now.astimezone(zone)
    return (
        _read_word(words, local)
        or _read_distance(words, local)
        or _read_date(words, zone)
        or _read_instant(words, zone)
    )


def since(text: str, *, zone: tzinfo, now: datetime) -> datetime:
    """Read the instant from which on something counts: the start of a day, or the instant itself."""
    return read_span(text, zone=zone, now=now).start


def until(text: str, *, zone: tzinfo, now: datetime) -> datetime:
    """Read the instant before which something counts: the end of a day, so that it is in, or itself."""
    return read_span(text, zone=zone, now=now).end


def zone(name: str) -> tzinfo:
    """Find a time zone by its IANA name; '' is this computer's own. An unknown name raises `InvalidInput`."""
    if not name:
        return _SystemZone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"Unknown time zone {name[:60]!r}. Use a name like Asia/Tokyo or America/Los_Angeles, "
            "or leave it empty for this computer's own."
        ) from None


def show(instant: datetime, zone: tzinfo) -> str:
    """Write an instant on the user's clock, as in '2026-05-03 14:30 JST'; in UTC where that clock cannot show it."""
    try:
        local = instant.astimezone(zone)
        return f"{local:%Y-%m-%d %H:%M} {local.tzname()}"
    except _BEYOND_THE_CLOCK:
        return f"{instant:%Y-%m-%d %H:%M} {instant.tzname()}"


def show_day(instant: datetime, zone: tzinfo) -> str:
    """Write the user's calendar day of an instant, as in '2026-05-03'; in UTC where their clock cannot show it."""
    return f"{day_of(instant, zone):%Y-%m-%d}"


def day_of(instant: datetime, zone: tzinfo) -> date:
    """Give the user's calendar day of an instant; that of UTC where their clock cannot show it."""
    try:
        return instant.astimezone(zone).date()
    except _BEYOND_THE_CLOCK:
        return instant.date()


def name_day(instant: datetime, *, zone: tzinfo, now: datetime) -> str:
    """Name the user's calendar day of an instant as one speaks of it: 'today', 'yesterday', else '2026-05-03'."""
    day = show_day(instant, zone)
    words = {show_day(now - timedelta(days=back), zone): word for back, word in ((1, "yesterday"), (0, "today"))}
    return words.get(day, day)


_BEYOND_THE_CLOCK = (OverflowError, ValueError, OSError)  # which one depends on the zone and the platform


class _SystemZone(tzinfo):
    """The zone of this computer; unlike `datetime.now().astimezone().tzinfo` it follows the clock changes."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return dt.replace(tzinfo=None).astimezone().utcoffset() if dt else None

    def dst(self, _: datetime | None) -> timedelta | None:
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        return dt.replace(tzinfo=None).astimezone().tzname() if dt else None

    def fromutc(self, dt: datetime) -> datetime:
        seconds = dt.replace(tzinfo=UTC).timestamp()
        return datetime.fromtimestamp(seconds).replace(tzinfo=self)  # noqa: DTZ006  its local reading is wanted


# ---- the forms -----------------------------------------------------------------------------------------------------

_DAYS = {
    "today": 0, "今日": 0, "本日": 0,
    "yesterday": 1, "昨日": 1, "きのう": 1,
    "the day before yesterday": 2, "一昨日": 2, "おととい": 2,
    "tomorrow": -1, "明日": -1,
}  # fmt: skip
_PERIODS = {
    "this week": ("week", 0), "今週": ("week", 0), "last week": ("week", 1), "先週": ("week", 1),
    "this month": ("month", 0), "今月": ("month", 0), "last month": ("month", 1), "先月": ("month", 1),
    "this year": ("year", 0), "今年": ("year", 0), "last year": ("year", 1), "去年": ("year", 1),
    "昨年": ("year", 1),
}  # fmt: skip
_UNITS = {
    "分": "minute", "時間": "hour", "日": "day", "週": "week",
    "か月": "month", "ヶ月": "month", "カ月": "month", "ヵ月": "month", "年": "year",
}  # fmt: skip
_UNIT = rf"(?P<unit>minute|hour|day|week|month|year|{'|'.join(_UNITS)})"
_LAST = re.compile(rf"(?:(?:the )?(?:last|past) |過去|直近)(?P<count>\d{{1,4}}) ?{_UNIT}(?:s|間)?")
_AGO = re.compile(rf"(?P<count>\d{{1,4}}|an?) ?{_UNIT}(?:s? ago|間?前)")
_DATE = re.compile(r"(?P<year>\d{4})(?:[-/年](?:(?P<month>\d{1,2})(?:[-/月](?:(?P<day>\d{1,2})日?)?)?)?)?", re.ASCII)
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d\S*) ?(z|[+-]\S+)?", re.ASCII)


def _read_word(words: str, local: datetime) -> Span | None:
    today = local.date()
    if words == "now":
        return _instant(local)
    if words in _DAYS:
        day = today - timedelta(days=_DAYS[words])
        return _days(day, day + timedelta(days=1), local.tzinfo)
    if words in _PERIODS:
        unit, back = _PERIODS[words]
        first = _back(_first_day(today, unit), back, unit)
        return _days(first, _back(first, -1, unit), local.tzinfo)
    return None


def _read_distance(words: str, local: datetime) -> Span | None:
    last, ago = _LAST.fullmatch(words), _AGO.fullmatch(words)
    match = last or ago
    if match is None:
        return None
    count = int(match["count"]) if match["count"].isdigit() else 1
    unit = _UNITS.get(match["unit"], match["unit"])
    tomorrow = local.date() + timedelta(days=1)
    if unit in ("minute", "hour"):
        instant = _instant(local.astimezone(UTC) - count * timedelta(**{unit + "s": 1}))
        return Span(instant.start, _midnight(tomorrow, local.tzinfo)) if last else instant
    day = _back(local.date(), count, unit)
    return _days(day, tomorrow if last else day + timedelta(days=1), local.tzinfo)


def _read_date(words: str, zone: tzinfo) -> Span | None:
    match = _DATE.fullmatch(words)
    if match is None:
        return None
    unit = "day" if match["day"] else "month" if match["month"] else "year"
    first = date(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    return _days(first, _back(first, -1, unit), zone)


def _read_instant(words: str, zone: tzinfo) -> Span | None:
    match = _INSTANT.fullmatch(words)
    if match is None:
        return None
    read = datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3] or ''}".upper())
    return _instant(read if read.tzinfo else read.replace(tzinfo=zone))


# ---- the calendar --------------------------------------------------------------------------------------------------


def _first_day(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)


def _back(day: date, count: int, unit: str) -> date:
    """Go back by days, weeks, months or years; a day that the other month lacks becomes its last."""
    if unit in ("day", "week"):
        return day - timedelta(days=count * (7 if unit == "week" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1), 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _days(first: date, after: date, zone: tzinfo | None) -> Span:
    return Span(_midnight(first, zone), _midnight(after, zone))


def _midnight(day: date, zone: tzinfo | None) -> datetime:
    """Find the instant a day begins. Where the clock skips it, fold 0 gives the change itself."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def _instant(at: datetime) -> Span:
    return Span(at.astimezone(UTC), at.astimezone(UTC))
