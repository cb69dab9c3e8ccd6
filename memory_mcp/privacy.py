"""What may be kept, and how it is shown so that it stays data."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from memory_mcp.config import Secrets
from memory_mcp.errors import InvalidInput
from memory_mcp.injection import commands_assistant
from memory_mcp.models import UNTRUSTED_SOURCES, Memory, Source, Trust
from memory_mcp.redaction import INVISIBLE, redact

# ---- what may be kept ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Admitted:
    """A text fit to be kept, and what was done to it, in short sentences for whoever stored it."""

    text: str
    notices: tuple[str, ...] = ()


def admit(text: object, field: str, limit: int, secrets: Secrets) -> Admitted:
    """Make a text fit to be kept: private blocks left out, secrets redacted, invisible characters made visible.

    `field` names it in errors, `limit` is in characters; `secrets` is what the person set. Raises `InvalidInput` for
    what `require_text` refuses, for a text that is private as a whole, and for a secret where those are refused.
    """
    public, private = without_private(require_text(text, field, limit))
    if private and _is_blank(public):
        raise InvalidInput(f"{field}: everything in it is marked private; nothing was saved.")
    redacted, kinds = (public.strip(), ()) if secrets == "keep" else redact(public.strip())
    if kinds and secrets == "refuse":
        raise _holds_secret(field, kinds)
    shown, hidden = neutralise(redacted)
    if len(shown) > limit and hidden:
        raise InvalidInput(f"{field} is over {limit:,} characters with its invisible ones written out; {_UNSAVED}")
    notices = (
        _counted(private, "private block", "left out") if private else "",
        _counted(len(kinds), "secret", f"redacted ({', '.join(dict.fromkeys(kinds))})") if kinds else "",
        _counted(hidden, "invisible character", "made visible") if hidden else "",
    )
    return Admitted(shown, tuple(notice for notice in notices if notice))


def admit_name(text: object, field: str, limit: int, secrets: Secrets) -> str:
    """Make a short text (a name, a tag) fit to be kept, in one line.

    Raises `InvalidInput` for what `require_text` refuses, for a private block, and for a secret unless those are kept:
    what is left of a name without them names something else.
    """
    shown, _ = neutralise(" ".join(require_text(text, field, limit).split()))
    if without_private(shown)[1]:
        raise InvalidInput(f"{field} holds a private block; {_UNSAVED}")
    kinds = () if secrets == "keep" else redact(shown)[1]
    if kinds:
        raise _holds_secret(field, kinds)
    return shown


def _holds_secret(field: str, kinds: Sequence[str]) -> InvalidInput:
    return InvalidInput(
        f"{field} holds a secret ({', '.join(dict.fromkeys(kinds))}); {_UNSAVED} Leave it out; what becomes of secrets"
        " is the user's own setting, MEMORY_MCP_SECRETS."
    )


_UNSAVED = "nothing was saved."


def require_text(text: object, field: str, limit: int, *, then: str = f"; {_UNSAVED}") -> str:
    """Check that something is a text worth keeping; gives it in NFC, with LF line ends, trimmed.

    Raises `InvalidInput`, which ends with `then`, for another type, a lone surrogate, a control character other than
    tab and line ends, over 30 combining marks in a row, a text with nothing visible in it, and one over `limit`
    characters.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{field} must be a text, not {type(text).__name__}{then}")
    bad = _FORBIDDEN.search(text)
    if bad:
        raise InvalidInput(f"{field} holds {_named(bad[0])} at position {bad.start() + 1}{then}")
    if _is_crowded(text):
        raise InvalidInput(f"{field} holds more than {_MARKS_IN_A_ROW} combining marks in a row{then}")
    kept = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip().strip("\ufeff").strip()
    if _is_blank(kept):
        raise InvalidInput(f"{field} is empty or has nothing visible in it{then}")
    if len(kept) > limit:
        longer = " Split it, or import it as a file: memory-mcp import FILE" if field == "content" else ""
        raise InvalidInput(f"{field} has {len(kept):,} characters, the limit is {limit:,}{then}{longer}")
    return kept


def without_private(text: str) -> tuple[str, int]:
    """Leave out `<private>...</private>`; gives what remains and the number of blocks.

    Blocks may be nested; one that is never closed hides all that follows, and one that was begun elsewhere, in the
    message before perhaps, all that comes before its end.
    """
    kept: list[str] = []
    depth = blocks = position = 0
    for tag in _PRIVATE.finditer(text):
        closing = bool(tag[1])
        if not depth and not closing:
            kept.append(text[position : tag.start()])
            blocks += 1
        if closing and not depth:
            kept.clear()
            blocks += 1
        depth = max(0, depth + (-1 if closing else 1))
        position = tag.end()
    return "".join(kept) + ("" if depth else text[position:]), blocks


_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_PRIVATE = re.compile(r"[<＜]\s*+(?:([/／])\s*+)?private(?:\s[^<>＜＞]*)?[>＞]", re.IGNORECASE)


# UAX #15, Stream-Safe Text Format: no language needs more, and putting them in order takes quadratic time.
_MARKS_IN_A_ROW = 30


def _is_crowded(text: str) -> bool:
    if text.isascii():
        return False
    return any(sum(1 for _ in run) > _MARKS_IN_A_ROW for is_mark, run in groupby(text, _is_mark) if is_mark)


@lru_cache(maxsize=4_096)
def _is_mark(character: str) -> bool:
    """Whether a character is a combining mark, or becomes one in its compatibility form."""
    return unicodedata.category(unicodedata.normalize("NFKD", character)[0]).startswith("M")


def _named(character: str) -> str:
    kind = "a lone surrogate" if "\ud800" <= character <= "\udfff" else "the control character"
    return f"{kind} U+{ord(character):04X}"


def _is_blank(text: str) -> bool:
    return not INVISIBLE.sub("", text).replace("\u2800", "").strip()


def _counted(count: int, noun: str, what: str) -> str:
    return f"1 {noun} was {what}." if count == 1 else f"{count} {noun}s were {what}."


# ---- invisible characters ------------------------------------------------------------------------------------------

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINING = "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"  # Arabic, Indic and kin

# A flag of a part of a country (UTS #51, emoji tag sequences): its code in tag letters and digits, and the end of it.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f")

# What may stand on both sides of an invisible character that does its proper work. Emoji are of category So or Sm.
_LEGITIMATE = tuple(
    (re.compile(f"[{characters}]"), re.compile(before), re.compile(after))
    for characters, before, after in (
        ("\u200c\u200d", f"[{_JOINING}]", ""),
        ("\ufe0e\ufe0f", "[#*0-9]", "\u20e3"),
        ("\ufe0e\ufe0f", "[\u203c\u2049\u3030]", ""),
        ("\ufe00-\ufe0d\U000e0100-\U000e01ef", f"[{_HAN}]", ""),
        ("\u180b-\u180f", "[\u1820-\u18aa]", ""),
    )
)


def neutralise(text: str) -> tuple[str, int]:
    """Show characters that hide, reorder or smuggle text as escapes like `[U+202E]`; gives their number, too.

    Joiners inside emoji and in scripts that need them, variation selectors after emoji and Chinese characters, and the
    tags of flags are kept. Repeating it changes nothing.
    """
    if text.isascii() or not INVISIBLE.search(text):
        return text, 0
    flags = {place for flag in _FLAG.finditer(text) for place in range(*flag.span())}
    shown: list[str] = []
    changed = 0
    for place, character in enumerate(text):
        before = shown[-1][-1] if shown else ""
        if (
            not INVISIBLE.match(character)
            or place in flags
            or _is_legitimate(character, before, text[place + 1 : place + 2])
        ):
            shown.append(character)
        else:
            shown.append(f"[U+{ord(character):04X}]")
            changed += 1
    return "".join(shown), changed


def _is_legitimate(character: str, before: str, after: str) -> bool:
    if character == "\u200d" and after and _is_emoji(after):
        return bool(before) and (_is_emoji(before) or before == "\ufe0f")
    if character in "\ufe0e\ufe0f" and before and _is_emoji(before):
        return True
    return any(
        characters.match(character) and left.match(before) and right.match(after)
        for characters, left, right in _LEGITIMATE
    )


def _is_emoji(character: str) -> bool:
    symbol = unicodedata.category(character) in ("So", "Sm") and not character.isascii()
    return symbol or "\U0001f3fb" <= character <= "\U0001f3ff"


# ---- trust ---------------------------------------------------------------------------------------------------------


def trust_of(source: Source, derived: Iterable[Trust] = ()) -> Trust:
    """Say how far a memory is trusted: no more than its source, nor than anything it was derived from."""
    if source in UNTRUSTED_SOURCES or Trust.UNTRUSTED in derived:
        return Trust.UNTRUSTED
    return Trust.TRUSTED


def flagged_if_commanding(memory: Memory, *beside: str) -> Memory:
    """Flag a memory of which any word commands the assistant, in its text, its names or what is kept `beside` it."""
    names = (memory.namespace, memory.key, memory.title, memory.speaker, memory.session_id, *memory.tags)
    return replace(memory, flagged=memory.flagged or bool(commands_assistant(memory.content, *names, *beside)))


# Delimiters around recalled text: ours, those that hosts give authority to, and those of chat templates.
_DELIMITER = re.compile(
    r"<(?=\s*+(?:/\s*+)?(?:antml:)?(?:memory|memories|conversation|invoke|parameter|instructions?|assistant|developer"
    r"|system(?:[-_\s]?(?:reminder|message|prompt|instructions?))?|(?:hook|untrusted|session|environment)[-_\s]?context"
    r"|user[-_\s]?(?:prompt[-_\s]?submit[-_\s]?hook|request|instructions|information|rules)|session[-_\s]?start[-_\s]?hook"
    r"|ephemeral[-_\s]?message|additional[-_\s]?metadata|function[-_\s]?(?:calls?|results?)"
    r"|tool[-_\s]?(?:use|calls?|results?|response|output))(?!\w))"
    r"|<(?=\|[^\s<>|]{1,40}\|>)|<(?=<\s*+/?\s*+sys>>)|\[(?=\s*+/?\s*+inst\s*+\])"
    # And the labels behind a memory, which only we may write.
    r"|\[(?=[^\[\]\n]{0,200}\bid=[0-9a-f]{8}-)",
    re.IGNORECASE,
)
_OPENERS = re.compile(r"[<＜﹤]|[\[［]\s*+[/／]?\s*+[iｉ]|[iｉ][dｄ][=＝]", re.IGNORECASE)


def quote(text: str) -> str:
    """Make a text safe between delimiters: what would begin one of ours, or one that hosts give a meaning, is a `‹`.

    Case, blanks and fullwidth letters do not help such a mark through; what cannot be seen is shown as escapes. All
    else stays as it is, and repeating it changes nothing.
    """
    shown, _ = neutralise(_FORBIDDEN.sub(lambda control: f"[U+{ord(control[0]):04X}]", text))
    if not _OPENERS.search(shown):
        return shown
    plain = shown if shown.isascii() else "".join(map(_plain, shown))
    quoted = list(shown)
    for opener in _DELIMITER.finditer(plain):
        quoted[opener.start()] = "‹"
    return "".join(quoted)


def between_marks(quoted: str) -> str:
    """Put a quoted text between quotation marks, which it cannot close itself."""
    return f"“{quoted.translate(_PLAIN_MARKS)}”"


_PLAIN_MARKS = str.maketrans("“”", '""')


def set_off(quoted: str, margin: str = "") -> str:
    """Mark every line of a quoted text, so that none of them can pose as a line of ours."""
    return "\n".join(f"{margin}> {line}" for line in quoted.splitlines())


def set_in(quoted: str) -> str:
    """Mark every line of a quoted text but the first, which stands behind a mark of ours."""
    first, *others = quoted.splitlines() or [""]
    return "\n".join([first, *(f"  > {line}" for line in others)])


def _plain(character: str) -> str:
    """Fold a character to its compatibility form where that is one character, so that places stay the same."""
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character
