"""What secrets look like: keys by the forms of their services, passwords by the words before them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

Found = tuple[int, int, str]
"""Where a secret stands (start, end) and its kind."""


def candidates(text: str) -> Iterator[Found]:
    """Find what looks like a secret, in no order; finds may overlap."""
    yield from _apply(_FORMS, text)
    yield from _apply(_SERVICES, text)
    folded = text.replace("İ", "i").replace("ſ", "s").lower()  # so that each character keeps its place
    for named in (_PASSWORDS, _KEYS):
        yield from _apply_after(named, text, folded)
    if _ODD_WORD.search(text):
        yield from _apply(_known_services(), text)


@dataclass(frozen=True)
class _Rule:
    """A form that secrets of one kind have; its group `secret`, if there is one, is all that is taken out."""

    kind: str
    form: re.Pattern[str]
    is_secret: Callable[[str], bool]


@dataclass(frozen=True)
class _Named:
    """Words for a secret, in small letters, and the forms in which it comes after one."""

    words: re.Pattern[str]
    rules: Sequence[_Rule]


def _apply(rules: Iterable[_Rule], text: str) -> Iterator[Found]:
    for rule in rules:
        group = "secret" if "secret" in rule.form.groupindex else 0
        for match in rule.form.finditer(text):
            if rule.is_secret(match[group]):
                yield (*match.span(group), rule.kind)


def _apply_after(named: _Named, text: str, folded: str) -> Iterator[Found]:
    """Apply rules where a word ends: one search for the words takes a tenth of the time of one for each rule."""
    words = [word.span() for word in named.words.finditer(folded)]
    for rule in named.rules:
        passed = 0
        for start, end in words:
            match = rule.form.match(text, end) if start >= passed else None
            if match and rule.is_secret(match["secret"]):
                passed = match.end()
                yield (*match.span("secret"), rule.kind)
            elif match and match.end() - end > _LONG:
                passed = match.end()


_LONG = 100
"""Characters of a value that is no secret: words in a longer one are passed over, so that the time stays linear."""


# ---- what a value looks like ---------------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(
    r"example|placeholder|change.?me|redacted|dummy|sample|x{4,}|\*{3}|\.{3}|…|^[<{\[$%]|^![01]\b"
    r"|^(?:your|(?:my|the|some|insert|enter)(?:[-_ ]|pass|secret|token|key)|required|optional|https?:)"
    r"|^(?:(?:sha|aes|utf)[-_]?\d|md5|bcrypt|argon|scrypt|pbkdf|1password|oauth)"
    r"|^(?:pass|password|passwd|pwd|pw|secret|token|none|null|true|false|string|undefined|hidden|todo|test|admin"
    r")\d{0,2}$"
    r"|^(?:passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|lösenord|пароль)$"
    r"|^(?:パスワード|密码|密碼|비밀번호)$",
    re.IGNORECASE,
)
_DOTTED = re.compile(r"(?:[a-z_]\w{0,24}\.)+[a-z_]\w{0,24}$|#[0-9a-f]{3,8}$", re.IGNORECASE)
"""Names in code, and colours: passwords may look like the first, keys do not."""

_CODE = re.compile(r"[\w.]+[(\[]|[a-z_]+(?:\.[a-z_]+)+$|/", re.IGNORECASE)


def _is_real(value: str) -> bool:
    return not _PLACEHOLDER.search(value)


def _is_password(value: str) -> bool:
    """Whether a value differs from words and code: letters with digits or odd signs, or digits alone."""
    return re.fullmatch(r"\d{4,}", value.rstrip(_ENDS)) is not None or _is_mixed_password(value)


def _is_mixed_password(value: str) -> bool:
    value = value.rstrip(_ENDS)
    odd = any(character.isdigit() or character in "!@#$%^&*+=?~" for character in value)
    letters = any(map(str.isalpha, value))
    return len(value) >= 4 and letters and odd and _is_real(value) and not _CODE.match(value)


def _is_quoted_password(value: str) -> bool:
    return not re.search(r"\s", value) and _is_real(value) and not _CODE.match(value)


def _is_mixed(value: str) -> bool:
    return value.upper() != value != value.lower() and _is_real(value)


def _is_varied(value: str) -> bool:
    return (value.upper() != value != value.lower() or any(map(str.isdigit, value))) and _is_real(value)


def _is_key(value: str) -> bool:
    if not _is_real(value) or not any(map(str.isalpha, value)):
        return False
    named = _CODE.match(value) or _DOTTED.match(value)
    return _is_random(value) or (sum(map(str.isdigit, value)) >= 2 and not named)


def _is_random(value: str) -> bool:
    """Whether small letters, capitals and digits follow each other without order: in words, even joined, they do not.

    Of two characters in a row that are drawn by chance six in ten differ so, in `AccessTokenOfUser` three.
    """
    sorts = [(one.isdigit(), one.isupper()) for one in value if one.isalnum()]
    changes = sum(one != other for one, other in pairwise(sorts))
    return len(sorts) >= max(16, 0.85 * len(value)) and changes >= 0.45 * len(sorts)


_ENDS = ".?!,:;"
"""What may end the sentence that a value stands in."""


# ---- how a value stands in a text ----------------------------------------------------------------------------------

_QUOTED = r"(?P<quote>[\"'`])(?P<secret>[^\"'`\n]{4,1000})(?P=quote)"
_INNER, _LATER = r"[^\s\"'`<>,;)\]}&。、」.?:]", r"[^\s\"'`<>,;)\]}&。、」]"
_BARE = (  # a closing sign inside belongs to it, unless the next assignment follows
    rf"(?P<secret>(?:{_INNER}|[.?:](?=\S)|[,;)\]}}&](?={_LATER})(?![\w.]+=)){{4,1000}})"
)


def _rule(kind: str, form: str, is_secret: Callable[[str], bool] = _is_real, *, flags: int = re.ASCII) -> _Rule:
    """Make a rule; by `re.ASCII` a word also begins where Japanese text runs into it."""
    return _Rule(kind, re.compile(form, flags), is_secret)


_ANY_CASE = re.ASCII | re.IGNORECASE


# ---- forms that need no word before them ---------------------------------------------------------------------------

_BASE64, _GAP = r"[A-Za-z0-9+/=_\\-]", r"[^\S\n]*"

_FORMS = (
    _rule(
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?!.{0,39}-----END)(?:[^-]++|-(?!----(?:BEGIN|END)))*+"
        rf"-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----|(?:\s*{_BASE64}{{16,}})+)",
        flags=re.DOTALL | re.ASCII,
    ),
    _rule("private key", r"\bPrivate-Lines: \d+(?P<secret>(?:\r?\n[A-Za-z0-9+/=]{16,76})+)"),
    _rule("private key", r"\"kty\"[^{}]{0,1000}?\"d\"\s*:\s*\"(?P<secret>[\w-]{40,})\""),
    _rule("anthropic key", r"\bsk-ant-[\w-]{16,}"),
    _rule("openai key", r"(?<![\w-])sk-(?:(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{20,}|(?:or-v1-)?[0-9a-z]{32,})"),
    _rule("github token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{22,}"),
    _rule("google key", r"\bAIza[\w-]{35,}|\bGOCSPX-[\w-]{20,}|\bya29\.[\w-]{20,}"),
    _rule("slack token", r"\bxox[abceoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}"),
    _rule("slack token", r"https://hooks\.slack\.com/services/(?P<secret>T\w+/B\w+/\w+)"),
    _rule("webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[\w-]{40,})"),
    _rule("webhook", r"https://[\w.-]{1,100}\.webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{40,})"),
    _rule("aws key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    _rule("azure key", r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    _rule("aws key", r"(?i:aws|secret).{0,30}?[:=]\s*[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", _is_mixed),
    _rule("azure key", r"[?&]sig=(?P<secret>[\w%+/-]{40,}={0,2})"),
    _rule("json web token", r"(?<![\w-])(?=[\w-]*?\beyJ)[\w-]{11,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    _rule("bearer token", r"\b(?i:bearer)\s+(?P<secret>[\w.~+/-]{16,}=*)", _is_key),
    _rule(
        "session cookie",
        r"(?i:cookie:)[^\n]{0,300}?(?i:sess|sid|auth|jwt)[\w.-]{0,30}=(?P<secret>[^\s;]{16,})",
        _is_key,
    ),
    _rule("password", r"(?i:authorization:\s*basic)\s+(?P<secret>[A-Za-z0-9+/]{8,}=*)"),
    _rule(
        "password",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{3,200})"
        r"(?=@(?!example\.(?:com|net|org)\b)[\w\[])",
    ),
    _rule("password", r"\bjdbc:oracle:\w{1,10}:[^\s/@]{1,60}/(?P<secret>[^\s@\"'<>]{3,100})(?=@)"),
    _rule(
        "password",
        r"\b(?:curl|wget)\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:(?P<secret>[^\s\"']{3,200})",
    ),
    _rule("password", r"\b(?:mysql|mariadb)\w*\b[^\n|;]{0,200}?\s-p(?!\d+:\d)(?P<secret>[^\s\"'-][^\s\"']{3,200})"),
    _rule(
        "password",
        rf"\b(?:login|credentials?|ログイン(?:情報)?){_GAP}(?:is|are|[:：=は]){_GAP}[\w.@+-]{{2,60}}{_GAP}[/／,、]{_GAP}"
        r"(?P<secret>[!-~]{4,100})",
        _is_mixed_password,
        flags=_ANY_CASE,
    ),
    _rule(
        "password",
        r"(?<![A-Za-z0-9])(?:pw|psk)\s*[:：=＝]\s*[\"']?(?P<secret>[!-~]{4,100})",
        _is_mixed_password,
        flags=_ANY_CASE,
    ),
    _rule(
        "password",
        rf"\b(?:re)?(?:set|change|update)\w{{0,9}}[^.\n]{{0,20}}(?:password|passcode|passphrase|pwd)\s+to\s+{_BARE}",
        _is_password,
    ),
    _rule("password", rf"-[\w-]{{0,30}}pass(?:word|wd|phrase)?\s{_BARE}", _is_password),
    _rule("password", rf"\bsshpass\s+-p\s*[\"']?{_BARE}"),
    _rule("password", rf"\bmachine\s+\S{{1,200}}\s+login\s+\S{{1,100}}\s+password\s+{_BARE}"),
    _rule("password", rf"\b(?:identified\s+by|with\s+password)\s+{_QUOTED}", _is_quoted_password, flags=_ANY_CASE),
    _rule("pin", r"\bPIN(?: code| number|コード)?\s*(?:is|was|[:=は])\s*(?P<secret>\d{4,8})\b"),
    _rule(
        "seed phrase",
        r"(?:\b(?:(?:seed|recovery|mnemonic|backup)[ -]?(?:phrase|words?)|mnemonic|seed)|フレーズ)"
        r"\s*(?:is|are|[:：=は])\s*[\"'「]?(?P<secret>(?:[a-z]{3,8}[ ,、]{1,2}){11,23}[a-z]{3,8})(?![a-z])",
        flags=_ANY_CASE,
    ),
)


# ---- forms of services ---------------------------------------------------------------------------------------------

_PREFIXED = (
    "(?:hf|npm|gsk|pplx|do[por]_v1|xai|r8|nvapi|shp(?:at|ca|pa|ss)|lin_api|ntn|nfp|sbp|phx|vcp)[_-][A-Za-z0-9]{30,}",
    "rubygems_[0-9a-f]{40,}",
    r"(?:dckr_(?:pat|oat)|sb_secret)_[\w-]{20,}",
    r"(?:figd|glsa|CCI(?:PAT|PRJ)|pscale_(?:tkn|oauth|pw))_[\w.-]{30,}",
    r"(?:sntry[su]_|glc_|ops_)eyJ[\w+/=-]{30,}",
    r"(?:whsec_|f[mo]\d_)[\w+/=-]{24,}",
    r"hv[sbr]\.[\w-]{20,}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w-]{30,}",
    r"tskey-[a-z]+-[\w-]{20,}",
    "NRAK-[A-Z0-9]{20,}",
    "(?:PMAK|xkeysib)-[0-9a-f]{24,}-[0-9A-Za-z]{16,}",
    "(?:pul-|dapi|key-)[0-9a-f]{32,40}",
    r"AT(?:A|C|S)TT3[\w=-]{40,}",
    "ATBB[A-Za-z0-9]{24,}",
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}",
    r"LTAI[A-Za-z0-9]{12,24}\b",
    r"AKID[A-Za-z0-9]{32}\b",
    "EAA[A-Za-z0-9]{80,}",
    r"sl\.(?:u\.)?[\w-]{100,}",
    r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",
    "A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}",
)
"""Keys that begin with what their services gave them for that purpose."""

_SERVICES = (
    _rule("service key", rf"\b(?:{'|'.join(_PREFIXED)})", _is_varied),
    _rule("private key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _rule("azure key", r"(?<![\w~-])[\w~-]{3}[78]Q~[\w.~-]{31,34}"),
)


# A word that could be a key and cannot be a hash or UUID: without one, the 0.3 s of an import are spared.
_ODD_WORD = re.compile(
    r"(?<![\w-])(?=[\w-]{20})(?=[\w-]*?[g-zG-Z])"
    r"(?:(?=[\w-]*?\d)|(?=[\w-]{30})(?=[A-Z\d_-]*+[a-z])(?=[a-z\d_-]*+[A-Z]))",
    re.ASCII,
)


@cache
def _known_services() -> tuple[_Rule, ...]:
    """Take over the forms of detect-secrets for single services; its own search gives only the prefix of some."""
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


# ---- what comes after a word for a secret --------------------------------------------------------------------------

_IS = r"[\"'\])]{0,2}\s*(?::=|=>|={1,2}|[:：＝])\s*"
_SAID = (
    r"(?:\s+(?:for|of|at|on|in|to)\s[^\n.:;?!]{1,40}?)?"
    r"(?:\s+(?:is|was|ist|war|lautet|est|es)(?:\s+(?:now|jetzt))?|(?:\s+(?:has|have)\s+been)?\s+(?:set|changed)\s+to)"
    r"\s+[\"'`“„]?"
)

_PASSWORDS = _Named(
    re.compile(
        "pass(?:word|wd|phrase|code)s?|pwd|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|lösenord"
        "|пароль|パスワード|パスコード|パスフレーズ|暗証番号|合言葉|密码|密碼|비밀번호|패스워드"
    ),
    (
        _rule("password", _IS + _QUOTED, _is_quoted_password, flags=re.IGNORECASE),
        _rule("password", _IS + _BARE, _is_password, flags=re.IGNORECASE),
        _rule("password", r"=(?P<secret>[a-z]{6,})(?=[\s&;]|$)", flags=re.IGNORECASE),
        _rule("password", _SAID + _BARE, _is_password, flags=re.IGNORECASE),
        _rule("password", rf"(?:\s+|[\"']?\s*[,(]\s*){_QUOTED}", _is_mixed_password, flags=re.IGNORECASE),
        _rule(
            "password",
            r"\s*[はがを是为為은는]\s*[「『\"'`]?(?P<secret>[!-~]{4,200}?)[」』\"'`]?"
            r"(?=です|だ|でした|に(?:変更|設定|し|変)|と(?:いう|設定|なっ)|입니다|이다|이에요|예요|[。、，\s]|$)",
        ),
    ),
)

_KEYS = _Named(
    re.compile(
        r"(?:api|access|secret|auth|private|pre-?shared|client|encryption|signing)[ _-]?key|secret|credential"
        r"|(?<!publickey)token|api\s?キー|アクセスキー|トークン|シークレット"
    ),
    (
        _rule("api key", _IS + _QUOTED, _is_key, flags=re.IGNORECASE),
        _rule(
            "api key",
            rf"(?:{_IS}|{_SAID}|\s*は\s*[「『]?)(?P<secret>[A-Za-z0-9_./+=~-]{{8,}})",
            _is_key,
            flags=re.IGNORECASE,
        ),
    ),
)
