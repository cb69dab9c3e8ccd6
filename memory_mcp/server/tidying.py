"""How what recurs and what is doubtful are put before a model: quoted, with ids, within a bound."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from memory_mcp import dates, privacy
from memory_mcp.consolidation import Proposal, Proposals
from memory_mcp.context import HEADER
from memory_mcp.models import Memory
from memory_mcp.relevance import Doubt, Doubted, Review
from memory_mcp.text import excerpt

SHOWN = 300
"""Bytes of one memory."""

FIRST: tuple[Doubt, ...] = ("contradictory", "commanding")
"""What is to be settled first."""


def groups(found: Proposals, zone: tzinfo, room: int) -> str:
    """Write the groups of memories that recur, in at most `room` bytes; those that do not fit are counted."""
    blocks = [_group(number, one, zone) for number, one in enumerate(found.proposals, 1)]
    return _within(blocks, room, found.omitted, "groups are left out: ask again when these are settled.")


def doubts(found: Review, zone: tzinfo, room: int) -> str:
    """Write the memories that are doubtful, in at most `room` bytes; those that do not fit are counted."""
    settled_first = sorted(found.doubted, key=lambda one: FIRST.index(one.doubt) if one.doubt in FIRST else len(FIRST))
    blocks = [block for doubted in settled_first for block in _doubted(doubted, zone)]
    omitted = sum(one.count - len(one.findings) for one in found.doubted)
    written = _within(blocks, room, omitted, "are left out: `memory-mcp audit relevance` counts them all.")
    return "\n".join(filter(None, (written, found.notice)))


def _group(number: int, one: Proposal, zone: tzinfo) -> str:
    facts = [f"kind={one.kind}", f"importance={one.importance:.2g}", f"confidence={one.confidence}"]
    facts += [f"namespace={_name(one.namespace)}"] + [f"supersedes={one.replaces}"] * bool(one.replaces)
    told = (f"- {_quoted(each.sentence)} [{_labels(each.memory, zone)}]" for each in one.occurrences)
    return "\n".join([f"Group {number}, told {one.times} times: {', '.join(facts)}", *told])


def _doubted(found: Doubted, zone: tzinfo) -> Iterator[str]:
    for finding in found.findings:
        told = (f"- {_told(one)} [{_labels(one, zone)}]" for one in finding.memories)
        settle = f" ({finding.settle})" if found.doubt == "commanding" else ""
        yield "\n".join([f"{found.doubt.capitalize()}: {finding.why}{settle}", *told])


def _told(memory: Memory) -> str:
    quoted = privacy.quote(excerpt(memory.content, (), SHOWN))
    return privacy.set_in(quoted if memory.may_come_unasked else privacy.between_marks(quoted))


def _labels(memory: Memory, zone: tzinfo) -> str:
    facts = (memory.id, memory.kind, dates.show_day(memory.created_at, zone), _name(memory.namespace))
    source = [] if memory.source == "agent" else [f"source={memory.source}"]
    trust = [] if memory.trust == "trusted" else [str(memory.trust)]
    return ", ".join([*facts, *source, *trust, *(["flagged"] if memory.flagged else [])])


def _name(text: str) -> str:
    return " ".join(privacy.quote(text).split())


def _quoted(text: str) -> str:
    return privacy.set_in(privacy.quote(excerpt(text, (), SHOWN)))


def _within(blocks: Sequence[str], room: int, omitted: int, what: str) -> str:
    shown, left = [HEADER], room - len(HEADER)
    for block in blocks:
        left -= len(block.encode()) + 2
        if left < 0 and len(shown) > 1:
            break
        shown.append(block)
    omitted += len(blocks) - (len(shown) - 1)
    return "\n\n".join([*shown, *([f"{omitted} {what}"] if omitted else [])])
