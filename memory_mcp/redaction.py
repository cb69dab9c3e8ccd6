"""What secrets look like, and a text without them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

Found = tuple[int, int, str]
"""Where a secret stands (start, end) and its kind."""

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt) and the marks of interlinear annotation."""


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace secrets by `[redacted: KIND]`; gives the text and the kind of each secret, in order.

    Found are keys of known services by their form (our own rules, then those of detect-secrets; nothing is ever
    verified over a network), private key blocks, passwords in addresses, and what is assigned to a word such as
    password, api_key or パスワード, unless it looks like prose, code or a placeholder. Invisible characters inside it,
    or their escapes like `[U+200B]`, hide no secret and go with it. Repeating it changes nothing.
    """
    kinds: list[str] = []
    while found := _find(text):  # again, since one that is gone can have hidden where another begins
        kinds += [kind for _, _, kind in found]
        text = _replaced(text, found)
    return text, tuple(kinds)


_LABEL = re.compile(r"\[redacted: [a-z ]+\]")
_PASSED_OVER = re.compile(rf"{INVISIBLE.pattern}|\[U\+[0-9A-F]{{4,6}}\]")


def _find(text: str) -> list[Found]:
    # `<` begins no value: a label is neither a secret nor the word before one, else each would uncover the next.
    masked = _LABEL.sub(lambda label: "<" * len(label[0]), text)
    visible, places = _visible(masked)
    return [(places[start], places[end - 1] + 1, kind) for start, end, kind in _apart(_candidates(visible))]


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Leave out what cannot be seen; gives what remains and the place of each character in `text`."""
    gaps = [gap.span() for gap in _PASSED_OVER.finditer(text)]
    if not gaps:
        return text, range(len(text))
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
    places = [place for start, end in zip(starts, ends, strict=True) for place in range(start, end)]
    return "".join(map(text.__getitem__, places)), places


def _replaced(text: str, found: Iterable[Found]) -> str:
    parts: list[str] = []
    kept_from = 0
    for start, end, kind in found:
        parts += (text[kept_from:start], f"[redacted: {kind}]")
        kept_from = end
    return "".join((*parts, text[kept_from:]))


def _candidates(text: str) -> Iterator[Found]:
    yield from _apply(_RULES, text)
    if _ODD_WORD.search(text):
        yield from _apply(_known_services(), text)


def _apart(candidates: Iterable[Found]) -> list[Found]:
    """Merge what overlaps, under the kind that begins first."""
    found: list[Found] = []
    for start, end, kind in sorted(candidates, key=lambda candidate: (candidate[0], -candidate[1])):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]), found[-1][2])
        else:
            found.append((start, end, kind))
    return found


# ---- what a value looks like ---------------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(
    r"example|placeholder|change.?me|redacted|dummy|sample|x{4,}|\*{3}|\.{3}|…|^[<{\[$%]"
    r"|^(?:your|(?:my|the|some|insert|enter)(?:[-_ ]|pass|secret|token|key)|required|optional|https?:)"
    r"|^(?:(?:sha|aes|utf)[-_]?\d|md5|bcrypt|argon|scrypt|pbkdf|1password)"
    r"|^(?:pass|password|passwd|pwd|pw|secret|token|none|null|true|false|string|undefined|hidden|todo|test|admin)\d{0,2}$",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\w.]+[(\[]|[a-z_]+(?:\.[a-z_]+)+$|/", re.IGNORECASE)


def _is_real(value: str) -> bool:
    return not _PLACEHOLDER.search(value)


def _is_password(value: str) -> bool:
    """Whether a value differs from words and code: letters with digits or odd signs, or digits alone."""
    value = value.rstrip(".?!,:;")
    letters = any(character.isalpha() for character in value)
    odd = any(character.isdigit() or character in "!@#$%^&*+=?~" for character in value)
    return len(value) >= 4 and ((letters and odd) or value.isdigit()) and _is_real(value) and not _CODE.match(value)


def _is_quoted_password(value: str) -> bool:
    return not re.search(r"\s", value) and _is_real(value)


def _is_mixed(value: str) -> bool:
    return value.upper() != value != value.lower() and _is_real(value)


def _is_key(value: str) -> bool:
    mixed = any(map(str.isalpha, value)) and sum(map(str.isdigit, value)) >= 2
    return mixed and _is_real(value) and not _CODE.match(value)


# ---- our own rules -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    """A form that secrets of one kind have; its group `secret`, if there is one, is all that is taken out."""

    kind: str
    form: re.Pattern[str]
    is_secret: Callable[[str], bool] = _is_real


def _apply(rules: Iterable[_Rule], text: str) -> Iterator[Found]:
    for rule in rules:
        group = "secret" if "secret" in rule.form.groupindex else 0
        for match in rule.form.finditer(text):
            if rule.is_secret(match[group]):
                yield (*match.span(group), rule.kind)


_CODEWORD = "(?:pass(?:word|wd|phrase|code)s?|pwd|パスワード|パスコード|暗証番号|合言葉|密码|密碼|비밀번호)"
_KEY = (
    r"(?:(?:api|access|secret|auth|private|client|encryption|signing)[ _-]?key|secret|token|credential"
    r"|API\s?キー|アクセスキー|トークン|シークレット)"
)
_IS = r"[\"'\])]{0,2}\s*(?::=|=>|={1,2}|[:：＝])\s*"
_SAID = r"(?:\s+(?:is|was)(?:\s+now)?|(?:\s+(?:has|have)\s+been)?\s+(?:set|changed)\s+to)\s+[\"'`“]?"
_QUOTED = r"(?P<quote>[\"'`])(?P<secret>[^\"'`\n]{4,1000})(?P=quote)"
_INNER, _LATER = r"[^\s\"'`<>,;)\]}&。、」.?:]", r"[^\s\"'`<>,;)\]}&。、」]"
_BARE = (  # a closing sign inside belongs to it, unless the next assignment follows
    rf"(?P<secret>(?:{_INNER}|[.?:](?=\S)|[,;)\]}}&](?={_LATER})(?![\w.]+=)){{4,1000}})"
)
_BASE64 = r"[A-Za-z0-9+/=_\\-]"


def _rule(kind: str, form: str, is_secret: Callable[[str], bool] = _is_real, *, flags: int = re.ASCII) -> _Rule:
    """Make a rule; by `re.ASCII` a word also begins where Japanese text runs into it."""
    return _Rule(kind, re.compile(form, flags), is_secret)


_RULES = (
    _rule(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?!.{0,39}-----END)(?:[^-]++|-(?!----(?:BEGIN|END)))*+"
        rf"-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----|(?:\s*{_BASE64}{{16,}})+)",
        flags=re.DOTALL | re.ASCII,
    ),
    _rule("anthropic key", r"\bsk-ant-[\w-]{16,}"),
    _rule("openai key", r"(?<![\w-])sk-(?:(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{20,}|(?:or-v1-)?[0-9a-z]{32,})"),
    _rule("github token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{22,}"),
    _rule("google key", r"\bAIza[\w-]{35,}|\bGOCSPX-[\w-]{20,}|\bya29\.[\w-]{20,}"),
    _rule("slack token", r"\bxox[abceoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}"),
    _rule("slack token", r"https://hooks\.slack\.com/services/(?P<secret>T\w+/B\w+/\w+)"),
    _rule("aws key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    _rule("aws key", r"(?i:aws|secret).{0,30}?[:=]\s*[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", _is_mixed),
    _rule("azure key", r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    _rule("service key", r"\b(?:hf|npm|gsk|pplx|dop_v1|xai|r8|nvapi|shpat|lin_api|ntn)[_-][A-Za-z0-9]{30,}"),
    _rule("json web token", r"(?<![\w-])(?=[\w-]*?\beyJ)[\w-]{11,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    _rule("bearer token", r"\b(?i:bearer)\s+(?P<secret>[\w.~+/-]{16,}=*)", _is_key),
    _rule("password", r"(?i:authorization:\s*basic)\s+(?P<secret>[A-Za-z0-9+/]{8,}=*)"),
    _rule("password", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{3,200})(?=@[\w\[])"),
    _rule("password", _CODEWORD + _IS + _QUOTED, _is_quoted_password, flags=re.IGNORECASE),
    _rule("password", _CODEWORD + _IS + _BARE, _is_password, flags=re.IGNORECASE),
    _rule("password", _CODEWORD + r"=(?P<secret>[a-z]{6,})(?=[\s&;]|$)", flags=re.IGNORECASE),
    _rule("password", _CODEWORD + _SAID + _BARE, _is_password, flags=re.IGNORECASE),
    _rule(
        "password", rf"\b(?:re)?(?:set|change|update)\w{{0,9}}[^.\n]{{0,20}}{_CODEWORD}\s+to\s+{_BARE}", _is_password
    ),
    _rule("password", rf"--?{_CODEWORD}[ =]{_BARE}", _is_password),
    _rule(
        "password",
        rf"{_CODEWORD}\s*[はがを]\s*[「『\"'`]?(?P<secret>[!-~]{{4,200}}?)[」』\"'`]?"
        r"(?=です|だ|でした|に(?:変更|設定|し|変)|と(?:いう|設定|なっ)|[。、\s]|$)",
        flags=re.IGNORECASE,
    ),
    _rule("pin", r"\bPIN(?: code| number|コード)?\s*(?:is|was|[:=は])\s*(?P<secret>\d{4,8})\b"),
    _rule("api key", _KEY + _IS + _QUOTED, _is_key, flags=re.IGNORECASE),
    _rule(
        "api key",
        rf"{_KEY}(?:{_IS}|{_SAID}|\s*は\s*[「『]?)(?P<secret>[A-Za-z0-9_./+=~-]{{8,}})",
        _is_key,
        flags=re.IGNORECASE,
    ),
)


# ---- what detect-secrets knows -------------------------------------------------------------------------------------

# A word that could be a key and cannot be a hash or UUID: without one, the 0.3 s of the import are spared.
_ODD_WORD = re.compile(r"(?<![\w-])(?=[\w-]*[g-zG-Z])(?=[\w-]*\d)[\w-]{20,}", re.ASCII)


@cache
def _known_services() -> tuple[_Rule, ...]:
    """Take over the forms of its detectors for single services; its own search gives only the prefix of some."""
    from detect_secrets.plugins import (  # noqa: PLC0415  see _ODD_WORD
        discord,
        gitlab_token,
        mailchimp,
        pypi_token,
        sendgrid,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    detectors: dict[str, Any] = {  # the base class hides the type of `denylist`
        "discord token": discord.DiscordBotTokenDetector,
        "gitlab token": gitlab_token.GitLabTokenDetector,
        "mailchimp key": mailchimp.MailchimpDetector,
        "pypi token": pypi_token.PypiTokenDetector,
        "sendgrid key": sendgrid.SendGridDetector,
        "square secret": square_oauth.SquareOAuthDetector,
        "stripe key": stripe.StripeDetector,
        "telegram token": telegram_token.TelegramBotTokenDetector,
        "twilio key": twilio.TwilioKeyDetector,
    }
    return tuple(
        _rule(kind, rf"(?<![A-Za-z0-9])(?:{form.pattern})[\w-]*")  # to the end of the word: another may follow in it
        for kind, detector in detectors.items()
        for form in detector.denylist
    )
