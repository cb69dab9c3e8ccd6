"""How files given as reference come in: read whole or refused, made fit to be kept, cut, and written file by file."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

from anyio import to_thread

from memory_mcp import documents, front_matter, privacy, requests
from memory_mcp.answers import TakenIn
from memory_mcp.config import MAX_TAGS, Secrets, Settings
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Kind, Memory, Source, Trust, new_id
from memory_mcp.redaction import redact
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Document, Shelved

MAX_FILE = 20 * 1024 * 1024
"""Bytes of one file: about fifteen books of text; what is larger is rather a log or a data set."""

ATTEMPTS = 3
"""How often a file is read that changes meanwhile."""

SCHEME = 2
"""Of the way in which texts are cut and named; with another, every file is taken in anew."""

UNSAVED = "Nothing of it was saved."


@dataclass(frozen=True)
class Manner:
    """How files are taken in.

    `trusted`: whether the person wrote them, as with what they store, or they are somebody else's words; None leaves a
    file as it is, and takes a new one for somebody else's. `brings_back`: also a file of which something was forgotten
    here. `dry_run`: only say what would become of it.
    """

    tags: tuple[str, ...] = ()
    trusted: bool | None = None
    brings_back: bool = False
    dry_run: bool = False


# ---- which files ---------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """A file of a folder, or what keeps us from looking into a folder of it."""

    path: Path
    problem: str = ""


def found_in(folder: Path) -> Iterator[Found]:
    """Find the documents of a folder and those below it, in order, but no hidden ones and no folders behind links."""
    problems: list[Found] = []

    def note(error: OSError) -> None:
        problems.append(Found(Path(error.filename), f"It cannot be read ({error.strerror}). {UNSAVED}"))

    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in documents.DOCUMENTS:
                yield Found(Path(place, name))
    yield from problems


def origin_of(path: Path) -> str:
    """Name a file by where it lies, after following links; a name that is no Unicode is written with escapes."""
    return os.fsencode(os.path.realpath(path.expanduser())).decode("utf-8", "backslashreplace")


# ---- what they hold ------------------------------------------------------------------------------------------------


def content(path: Path) -> bytes:
    """Read a file in one state of it. Raises `InvalidInput`."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a pipe would wait for whoever writes to it
            raise InvalidInput(f"It is no file. {UNSAVED}")
        return settled(lambda: path.open("rb"))
    except OSError as error:
        raise InvalidInput(f"It cannot be read ({error.strerror}). {UNSAVED}") from error


def settled(opened: Callable[[], IO[bytes]]) -> bytes:
    """Read what is opened, again where it changed meanwhile. Raises `InvalidInput` if it is too large or restless."""
    for _ in range(ATTEMPTS):
        with opened() as file:
            before = os.fstat(file.fileno())
            data = file.read(MAX_FILE + 1) if before.st_size <= MAX_FILE else b""
            after = os.fstat(file.fileno())
        if max(before.st_size, len(data)) > MAX_FILE:
            raise InvalidInput(
                f"It has {after.st_size:,} bytes; at most {MAX_FILE:,} are taken in of one file. Split it. {UNSAVED}"
            )
        if (before.st_size, before.st_mtime_ns) == (len(data), after.st_mtime_ns):
            return data
    raise InvalidInput(f"It changes while it is read. {UNSAVED} Import it again.")


async def take_in(
    db: Store, path: Path, manner: Manner, settings: Settings, *, now: Callable[[], datetime], door: str
) -> TakenIn:
    """Keep a file as chunks of kind `document`, or bring what is kept of it up to date; again is harmless.

    One that was interrupted goes on where it stopped. Raises `InvalidInput` for what is no text that may be kept; then
    nothing of it was saved.
    """
    if settings.owns(path):
        raise InvalidInput(f"It belongs to the memory file. {UNSAVED}")
    manner = replace(manner, tags=requests.tags(manner.tags, settings.secrets))
    data = await to_thread.run_sync(content, path)
    origin = origin_of(path)
    standing = await db.document_standing(origin, settings.namespace)
    if manner.trusted is None:
        manner = replace(manner, trusted=bool(standing.own))
    version = _version(data, manner, settings)
    if standing.version == version:
        return TakenIn(origin, "unchanged")
    blank = Document(origin, settings.namespace, version, ())
    document, notices = await to_thread.run_sync(_cut, blank, data, manner, settings, now())
    done = await (_foresee if manner.dry_run else _shelve)(db, document, manner, door)
    if done.outcome in ("unchanged", "forgotten"):
        return TakenIn(origin, done.outcome, kept=done.kept)
    flagged = sum(chunk.flagged for chunk in document.chunks)
    taken = TakenIn(origin, done.outcome, done.added, done.kept, done.removed, flagged, notices)
    if standing.own in (None, manner.trusted):
        return taken
    return replace(taken, trust=Trust.TRUSTED if manner.trusted else Trust.UNTRUSTED)


async def _foresee(db: Store, document: Document, manner: Manner, _door: str) -> Shelved:
    return await db.foresee_document(document, brings_back=manner.brings_back)


async def _shelve(db: Store, document: Document, manner: Manner, door: str) -> Shelved:
    first = done = await db.put_document(document, brings_back=manner.brings_back, door=door)
    added = first.added
    while done.left:
        done = await db.put_document(document, brings_back=manner.brings_back, door=door)
        added += done.added
    return replace(first, added=added, removed=done.removed)


async def missing(db: Store, folder: Path, settings: Settings) -> list[str]:
    """Name the files below a folder that are kept and no longer there. They stay until somebody has them forgotten."""
    kept = await db.document_origins(origin_of(folder).rstrip("/\\"), settings.namespace)
    there = {origin_of(one.path) for one in await to_thread.run_sync(list, found_in(folder))}
    return [origin for origin in kept if origin not in there and _is_gone(Path(origin))]


def _is_gone(path: Path) -> bool:
    """Whether there is no such file; one that we may not look at may be there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _version(data: bytes, manner: Manner, settings: Settings) -> str:
    """Name a version of a file by a digest of all of it, and of what else decides how it is kept."""
    how = [SCHEME, settings.namespace, settings.secrets, manner.trusted, sorted(manner.tags)]
    return hashlib.sha256(json.dumps(how).encode() + b"\0" + data).hexdigest()


def _cut(
    blank: Document, data: bytes, manner: Manner, settings: Settings, now: datetime
) -> tuple[Document, tuple[str, ...]]:
    """Make the chunks of a document; gives what was done to its text, too. It takes a while: not in the event loop.

    Secrets and private parts are looked for in the whole text, so that none is cut in two.
    """
    path = Path(blank.origin)
    markdown = path.suffix.lower() in documents.MARKDOWN
    text = documents.decoded(data)
    about = front_matter.split(text) if markdown else front_matter.FrontMatter("", (), text)
    admitted = privacy.admit(about.text, "It", MAX_FILE, settings.secrets)
    name = privacy.without_private(about.title)[0].strip() or path.stem
    found = documents.chunks(admitted.text, name, markdown=markdown)
    tags, left = _all_tags(manner.tags, about.tags, settings.secrets)
    titles = {title: _fit(title, settings.secrets) for title in {chunk.title for chunk in found}}
    chunks = tuple(
        privacy.flagged_if_commanding(
            Memory(
                id=new_id(now),
                content=chunk.text,
                created_at=now,
                updated_at=now,
                kind=Kind.DOCUMENT,
                namespace=blank.namespace,
                tags=tags,
                title=titles[chunk.title],
                source=Source.USER if manner.trusted else Source.IMPORT,
                trust=privacy.trust_of(Source.USER if manner.trusted else Source.IMPORT),
                expires_at=requests.expiry(None, Kind.DOCUMENT, settings, now),
            )
        )
        for chunk in found
    )
    return replace(blank, chunks=chunks), (*admitted.notices, *left)


def _all_tags(
    given: tuple[str, ...], own: tuple[str, ...], secrets: Secrets
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Add a file's own tags to those that are given, as far as they can be kept; says in a notice how many cannot."""
    tags = list(given)
    for tag in own:
        with suppress(InvalidInput):
            tags += requests.tags((tag,), secrets)
    kept = tuple(dict.fromkeys(tags))[:MAX_TAGS]
    left = len({*given, *(tag.casefold() for tag in own)}) - len(kept)
    return kept, (f"{left} of its own tags cannot be kept.",) if left > 0 else ()


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def _fit(title: str, secrets: Secrets) -> str:
    """Make a title fit to be kept: a file may be called anything."""
    shown, _ = privacy.neutralise(" ".join(_CONTROL.sub(" ", title).split()))
    return shown if secrets == "keep" else redact(shown)[0]
