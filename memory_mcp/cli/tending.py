"""The verbs that look after what is kept: what recurs, what is due, what is doubtful."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from memory_mcp import dates
from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.models import Memory
from memory_mcp.privacy import between_marks
from memory_mcp.text import excerpt

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.answers import AuditLine
    from memory_mcp.consolidation import Proposal
    from memory_mcp.maintenance import Upkeep
    from memory_mcp.relevance import Doubted, Finding
    from memory_mcp.service import MemoryService

SHOWN = 20
"""Ids and occurrences that are told one by one; JSON has them all."""

LOGGED = 20
"""Lines of a page of the log, unless somebody asks for more."""

SHOWN_IDS = 3

QUOTED = 200
"""Bytes that are shown of what commands the assistant."""

SAYS = {
    "commanding": ("memory that commands the assistant", "memories that command the assistant"),
    "useless": ("memory recalled often, never rated useful", "memories recalled often, never rated useful"),
    "unused": ("memory never recalled", "memories never recalled"),
    "stale": ("memory past its time", "memories past their time"),
    "contradictory": ("pair that may contradict each other", "pairs that may contradict each other"),
}


# ---- what recurs ---------------------------------------------------------------------------------------------


async def consolidate(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Propose patterns and lessons, or store some of the proposed ones."""
    if args.all and args.accept:
        args.error("write --accept NUMBER, or --all")
    if args.text and len(args.accept) != 1:
        args.error("--text is for one proposal: write --accept NUMBER --text TEXT")
    found = await memory.proposals(args.namespace)
    screen.note(found.notice)
    if args.all or args.accept:
        return await _accept(memory, found.proposals, args, screen)
    lines = [line for one in found.proposals for line in _proposed(one, screen)]
    answer = {"proposals": [_as_data(one) for one in found.proposals], "omitted": found.omitted}
    screen.answer(answer, *(lines or ["Nothing recurs that is not a pattern yet."]))
    screen.note(f"{found.omitted} more, once these are settled." if found.omitted else "")
    screen.note("To keep one: memory-mcp consolidate --accept NUMBER" if lines else "")
    return 0


async def _accept(memory: "MemoryService", proposals: Sequence["Proposal"], args: Namespace, screen: Screen) -> int:
    chosen = [one for one in proposals if args.all or one.number in args.accept]
    done = [(one, await memory.accept(one, args.text)) for one in chosen]
    lines = [
        f"Stored {stored.id} as a {one.kind} of {len(one.occurrences)} memories."
        + f" It supersedes {', '.join(stored.superseded)}." * bool(stored.superseded)
        for one, stored in done
    ]
    screen.answer([{"number": one.number, **asdict(stored)} for one, stored in done], *lines)
    screen.note(" ".join(dict.fromkeys(stored.notice for _, stored in done if stored.notice)))
    unknown = sorted(set(args.accept) - {one.number for one in chosen})
    for number in unknown:
        screen.note(f"Not stored: {number} is not proposed (any more). `memory-mcp consolidate` shows what is.")
    return 1 if unknown else 0


def _proposed(one: "Proposal", screen: Screen) -> list[str]:
    first, last = (dates.show_day(instant, screen.zone) for instant in one.period)
    facts = [str(one.number), one.kind, f"{one.times} times, {first} to {last}", f"confidence {one.confidence}"]
    told = [
        f"    - {dates.show_day(each.memory.created_at, screen.zone)}  {each.memory.id}  {each.sentence}"
        for each in one.occurrences[:SHOWN]
    ]
    replaces = [f"    supersedes {one.replaces}, which has grown"] * bool(one.replaces)
    return ["  ".join(facts), f"    {one.content}", *replaces, *told]


def _as_data(one: "Proposal") -> dict[str, object]:
    return {
        "number": one.number,
        "content": one.content,
        "kind": one.kind,
        "namespace": one.namespace,
        "times": one.times,
        "first": one.period[0],
        "last": one.period[1],
        "importance": one.importance,
        "confidence": one.confidence,
        "supersedes": [one.replaces] * bool(one.replaces),
        "derived_from": one.ids,
        "sentences": [each.sentence for each in one.occurrences],
    }


# ---- what is due ---------------------------------------------------------------------------------------------


async def maintain(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Do what is due, or only say what it would be."""
    found = await memory.upkeep(dry_run=args.dry_run)
    lines = _due(found, done=not args.dry_run)
    screen.answer({"dry_run": args.dry_run, **asdict(found)}, *(lines or ["Nothing is due."]))
    screen.note(found.problem)
    screen.note("Nothing was changed: this was a dry run." if args.dry_run and lines else "")
    return 0


def _due(found: "Upkeep", *, done: bool) -> list[str]:
    erased = "erased: their time to live is over" if done else "to be erased: their time to live is over"
    archived = "archived" if done else "to be archived"
    lines = "dropped" if done else "to be dropped"
    return [
        *_listed(found.expired, erased),
        *_listed(found.faded, f"{archived}: unused for a year or longer (`memory-mcp restore ID` takes one back)"),
        *([f"{counted(found.audit_lines, 'line', 'lines')} of the audit {lines}"] if found.audit_lines else []),
    ]


def _listed(ids: Sequence[str], what: str) -> list[str]:
    if not ids:
        return []
    more = [f"    and {len(ids) - SHOWN} more"] if len(ids) > SHOWN else []
    return [f"{counted(len(ids), 'memory', 'memories')} {what}", *(f"    {one}" for one in ids[:SHOWN]), *more]


# ---- what is doubtful ----------------------------------------------------------------------------------------


async def audit(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Read the log of what was done, or name what may not be worth keeping as it is."""
    if args.of == "log":
        return await _log(memory, args, screen)
    if args.since or args.verb_done or args.cursor or args.limit is not None:
        args.error("--limit, --since, --verb and --cursor are for audit log")
    return await _relevance(memory, args, screen)


async def _relevance(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Name what is doubtful, each with the command that would settle it."""
    found = await memory.review(args.namespace)
    lines = [line for doubted in found.doubted for line in _doubted(doubted, screen)]
    screen.answer(asdict(found), *(lines or ["Nothing is doubtful."]))
    screen.note(found.notice)
    return 0


def _doubted(found: "Doubted", screen: Screen) -> list[str]:
    if not found.count:
        return []
    more = [f"  and {found.count - len(found.findings)} more"] if found.count > len(found.findings) else []
    told = [line for finding in found.findings for line in _told(finding, screen)]
    return [counted(found.count, *SAYS[found.doubt]), *told, *more]


def _short(memory: Memory) -> Memory:
    """What commands is not shown whole, but between quotation marks."""
    quoted = between_marks(excerpt(memory.content, (), QUOTED))
    return replace(memory, content=quoted) if memory.flagged else memory


def _told(finding: "Finding", screen: Screen) -> list[str]:
    shown = ["  " + screen.summary(_short(each)).replace("\n", "\n  ") for each in finding.memories]
    return [*shown, f"      {finding.why}: {finding.settle}"]


# ---- what was done -------------------------------------------------------------------------------------------


async def _log(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    limit = LOGGED if args.limit is None else args.limit
    page = await memory.audit_log(limit, since=args.since, verb=args.verb_done, cursor=args.cursor)
    narrowed = args.since or args.verb_done or args.cursor
    nothing = "Nothing fits. Leave filters out." if narrowed else "Nothing was done to this memory yet."
    screen.answer(asdict(page), *([_logged(line, screen) for line in page.lines] or [nothing]))
    screen.note(f"For the next page, repeat the command with --cursor {page.next_cursor}" if page.next_cursor else "")
    return 0


def _logged(line: "AuditLine", screen: Screen) -> str:
    shown = line.ids[:SHOWN_IDS]
    more = [f"and {line.count - len(shown)} more"] if shown and line.count > len(shown) else []
    return "  ".join([screen.time(line.at), f"{line.door:10}", f"{line.verb:10}", str(line.count), *shown, *more])
