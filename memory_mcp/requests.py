"""What was asked, checked and put into the store's terms."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from memory_mcp import dates, privacy
from memory_mcp.config import (
    MAX_CONTENT,
    MAX_DAYS,
    MAX_IDS,
    MAX_NAME,
    MAX_QUERY,
    MAX_TAG,
    MAX_TAGS,
    QUOTED,
    Secrets,
    Settings,
)
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Filter, Kind, Memory, NewMemory, Query, Revision, Selection, State, new_id

MAX_LIMIT = 50
NOT_BY_STORE = {
    Kind.EPISODE: "episodes are made by summarize",
    Kind.DOCUMENT: "files given as reference are for: memory-mcp import FILE",
}
PERSON = "user"
"""The namespace about the person, which every recall looks into."""


def new_memory(new: NewMemory, settings: Settings, now: datetime) -> tuple[Memory, tuple[str, ...]]:
    """Check a request to store and make the memory it asks for, with notices of what was changed in the text.

    Raises `InvalidInput` for whatever must not be kept as it is.
    """
    if new.kind in NOT_BY_STORE:
        raise InvalidInput(f"kind {new.kind.value!r} cannot be stored: {NOT_BY_STORE[new.kind]}. Nothing was saved.")
    admitted = privacy.admit(new.content, "content", MAX_CONTENT, settings.secrets)
    memory = Memory(
        id=new_id(now),
        content=admitted.text,
        kind=new.kind,
        namespace=name(new.namespace, "namespace", settings.secrets) or settings.namespace,
        tags=tags(new.tags, settings.secrets),
        key=name(new.key, "key", settings.secrets),
        pinned=new.pinned,
        session_id=name(new.session_id, "session_id", settings.secrets),
        speaker=name(new.speaker, "speaker", settings.secrets),
        importance=unit(new.importance, "importance", 0.5),
        confidence=unit(new.confidence, "confidence", 1.0),
        source=new.source,
        trust=privacy.trust_of(new.source),
        created_at=past(new.created_at, "created_at", now) or now,
        updated_at=now,
        valid_from=instant(new.valid_from, "valid_from"),
        expires_at=expiry(new.expires_in_days, new.kind, settings, now),
    )
    return privacy.flagged_if_commanding(memory), admitted.notices


def where(query: Query, settings: Settings, zone: tzinfo, now: datetime) -> Filter:
    """Say which memories a query is about. Raises `InvalidInput` for dates that cannot be read or stand reversed."""
    since = dates.since(query.since, zone=zone, now=now) if query.since else None
    until = dates.until(query.until, zone=zone, now=now) if query.until else None
    if since and until and since >= until:
        raise InvalidInput("since must lie before until.")
    past = (State.SUPERSEDED,) if query.include_history or query.as_of else ()
    return Filter(
        namespaces=tuple(dict.fromkeys((sought(query.namespace, "namespace") or settings.namespace, PERSON))),
        kinds=query.kinds,
        tags=sought_tags(query.tags),
        states=(State.ARCHIVED,) if query.archived else (State.ACTIVE, *past),
        session_id=sought(query.session_id, "session_id"),
        source=query.source,
        trust=query.trust,
        flagged=query.flagged,
        outcome=query.outcome,
        min_confidence=unit(query.min_confidence, "min_confidence", 0.0, then=""),
        since=since,
        until=until,
        as_of=dates.until(query.as_of, zone=zone, now=now) if query.as_of else None,
        now=now,
    )


def window(where: Filter, zone: tzinfo) -> str:
    """Say how the dates of a query were read; '' without any."""
    bounds = (("from", where.since), ("before", where.until), ("as of", where.as_of))
    told = " ".join(f"{word} {dates.show(instant, zone)}" for word, instant in bounds if instant)
    return f"Only what was {'true' if where.as_of else 'stored'} {told}." if told else ""


def checked(query: Query) -> Query:
    """Bring a query within its bounds; raises `InvalidInput` where that would change what was asked."""
    return replace(
        query,
        text=question(query.text, "query"),
        context=question(query.context, "context"),
        ids=ids(query.ids),
        limit=bounded(query.limit),
    )


def bounded(limit: int) -> int:
    """Bring how many are wanted within the bounds of a page."""
    if limit < 1:
        raise InvalidInput("limit must be at least 1.")
    return min(limit, MAX_LIMIT)


def question(text: str, field: str) -> str:
    """Clean a question: it is words to look for, so odd characters are blanks, not errors. Raises over the limit."""
    if len(text) > MAX_QUERY:
        raise InvalidInput(f"{field} has {len(text):,} characters; at most {MAX_QUERY:,} are searched. Shorten it.")
    return "".join(" " if c < " " or "\ud800" <= c <= "\udfff" else c for c in text).strip()


def narrows(query: Query) -> bool:
    """Whether a query without words asks for a listing rather than the briefing."""
    return any(
        (
            query.kinds, query.tags, query.since, query.until, query.as_of, query.outcome, query.min_confidence,
            query.source, query.session_id, query.include_history, query.cursor,
        )
    )  # fmt: skip


def selected(
    selection: Selection, states: tuple[State, ...], settings: Settings, zone: tzinfo, now: datetime
) -> Filter:
    """Say which memories a wide forget, archive or restore is about, by the same meaning of dates as in recall."""
    own = (sought(selection.namespace, "namespace") or settings.namespace,)
    return Filter(
        namespaces=own if selection.namespace else tuple(dict.fromkeys((*own, PERSON))),
        states=states,
        tags=sought_tags(selection.tags),
        session_id=sought(selection.session_id, "session_id"),
        file=selection.file,
        source=selection.source,
        until=dates.since(selection.before, zone=zone, now=now) if selection.before else None,
    )


def revision(change: Revision, memory: Memory, settings: Settings, now: datetime) -> tuple[Revision, datetime | None]:
    """Check a change and find the expiry that follows from it."""
    if change.kind in NOT_BY_STORE or (change.kind and memory.kind in NOT_BY_STORE):
        raise InvalidInput(f"A memory cannot become, or stop being, of kind {(change.kind or memory.kind).value!r}.")
    cleaned = replace(
        change,
        importance=None if change.importance is None else unit(change.importance, "importance", 0.5),
        confidence=None if change.confidence is None else unit(change.confidence, "confidence", 1.0),
        tags=None if change.tags is None else tags(change.tags, settings.secrets),
        namespace=name(change.namespace or "", "namespace", settings.secrets) or None,
    )
    if change.expires_in_days == 0:
        return cleaned, None
    if change.expires_in_days is not None:
        return cleaned, expiry(change.expires_in_days, memory.kind, settings, now)
    return cleaned, memory.expires_at


def name(value: str, field: str, secrets: Secrets) -> str:
    """Check a short name to be kept (namespace, key, speaker, session_id), in one line; '' stays ''."""
    return privacy.admit_name(value, field, MAX_NAME, secrets) if value else ""


def sought(value: str, field: str, limit: int = MAX_NAME) -> str:
    """Put a short name that is looked for into the form in which one is kept; '' stays ''."""
    return " ".join(privacy.neutralise(privacy.require_text(value, field, limit, then="."))[0].split()) if value else ""


def tags(values: Iterable[str], secrets: Secrets) -> tuple[str, ...]:
    """Check tags to be kept: fold case and blanks, drop repeats and empty ones. At most 32 of 64 characters."""
    return _folded(
        privacy.admit_name(tag, "tags", MAX_TAG, secrets) for tag in _few(values, then=" Nothing was saved.")
    )


def sought_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Put tags that are looked for into the form in which they are kept."""
    return _folded(sought(tag, "tags", MAX_TAG) for tag in _few(values))


def _few(values: Iterable[str], *, then: str = "") -> list[str]:
    given = list(values)
    if len(given) > MAX_TAGS:
        raise InvalidInput(f"{len(given):,} tags are too many; at most {MAX_TAGS}.{then}")
    return [tag for tag in given if tag.strip()]


def _folded(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.casefold() for tag in values))


def ids(values: Iterable[str]) -> tuple[str, ...]:
    """Drop repeats. Raises over 200, and for what is too long to be one, since other errors repeat ids."""
    given = tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
    if any(len(value) > QUOTED for value in given):
        raise InvalidInput("An id is 36 characters long, as recall shows it. Nothing was changed.")
    if len(given) > MAX_IDS:
        raise InvalidInput(f"{len(given):,} ids are too many; at most {MAX_IDS} a call.")
    return given


def unit(value: float | None, field: str, default: float, *, then: str = " Nothing was saved.") -> float:
    """Check a number in 0..1; the error ends with `then`."""
    if value is None:
        return default
    if not 0 <= value <= 1:
        raise InvalidInput(f"{field} must lie between 0 and 1.{then}")
    return float(value)


def instant(value: datetime | None, field: str) -> datetime | None:
    """Check that every clock can show an instant."""
    if value is not None and not dates.EARLIEST <= value <= dates.LATEST:
        raise InvalidInput(f"{field} must lie in the years 1000 to 9000. Nothing was saved.")
    return value


def past(value: datetime | None, field: str, now: datetime) -> datetime | None:
    """Check that an instant of the past is one; a day of grace for clocks and zones."""
    value = instant(value, field)
    if value is not None and value > now + timedelta(days=1):
        raise InvalidInput(f"{field} lies in the future. Nothing was saved.")
    return value


def expiry(days: float | None, kind: Kind, settings: Settings, now: datetime) -> datetime | None:
    """When a memory's time to live ends: as asked, else by its kind; None is never."""
    if days is None:
        lifetime = settings.lifetime(kind)
        return now + lifetime if lifetime else None
    if not 0 < days <= MAX_DAYS:
        raise InvalidInput(f"expires_in_days must be above 0 and at most {MAX_DAYS:,}. Nothing was saved.")
    return now + timedelta(days=days)
