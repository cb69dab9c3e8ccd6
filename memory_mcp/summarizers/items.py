"""What of a text must have been said: where names, numbers, paths, codes and quotations stand."""

import re

from memory_mcp.summarizers.figures import COUNTER, DAY, FIGURE, MAGNITUDE, MONTHS, NUMERAL, SPOKEN, UNITS, WORDLIKE
from memory_mcp.tokens import UNSPACED

_A = rf"[^\W\d_{UNSPACED}]"  # a letter of a script with spaces
_QUOTED = "|".join(rf"{a}[^{a}{b}\n]{{2,200}}{b}" for a, b in ('""', "“”", "„“", "«»", "「」", "『』", "``"))
TOKEN = re.compile(rf"(?:[.@+~/\\-]|:(?=[\w/\\])|{WORDLIKE})+")
EXACT = re.compile(
    rf"(?P<quoted>{_QUOTED})|(?P<address>(?:https?://|www\.)[^\s\"'<>()「」『』、。，`{UNSPACED}]+)"
    rf"|(?P<token>{TOKEN.pattern})"
)
CODE = re.compile(
    rf".*{_A}{{2}}.*[/\\].*|.*[/\\].*{_A}{{2}}.*|--?[A-Za-z].*|.*[^\W_]_[^\W_].*|__.*|.*{_A}.*@.*|@{_A}.*"
    rf"|(?!\d+\.).*{WORDLIKE}{{2}}\.{_A}{{2}}{WORDLIKE}*|[a-z]\.[a-z]{{2,4}}|\.[a-z]{WORDLIKE}+|(?!.\.{_A}\.?$){WORDLIKE}+(?:\.{_A}{WORDLIKE}*){{2,}}"
    rf"|(?=.*[a-f])(?=.*\d)(?:[0-9a-f]{{7,40}}|[0-9a-f-]{{20,}})|(?![vV]\d){_A}+\d.*|[^\W\d]*[A-Z]{_A}*-\d.*"
    r"|v?\d+(?:\.\d+)+-[A-Za-z].*"
)
NAMED = re.compile(
    rf"(?P<moment>(?<![\d.])(?:{DAY}))"
    rf"|(?P<kanji>\d[\d,.]*[十百千万億][\d{NUMERAL}]*"
    rf"|(?<![何数十第{NUMERAL}])(?!一[^{NUMERAL}]|十分)[{NUMERAL}]+(?=[{COUNTER}]))"
    rf"|(?P<figure>(?:{FIGURE})(?:{MAGNITUDE})?)"
    rf"|(?:(?<!{WORDLIKE})(?:the|these|those|all|die|alle) (?:{SPOKEN})(?!{WORDLIKE}))"
    rf"|(?P<spoken>(?<!{WORDLIKE})(?:{SPOKEN})(?:[ -](?:one|{'|'.join(UNITS)}))?(?:{MAGNITUDE}|(?!{WORDLIKE})))"
    r"|(?P<kana>[ァ-ヺー゙゚]{2,}(?:・[ァ-ヺー゙゚]{2,})*)|(?P<weekday>[月火水木金土日]曜)"
    r"|(?P<bearer>[一-鿿々]{1,6}(?=さん|様|氏|くん|ちゃん|君|先生)"
    r"|[一-鿿々]{2,6}?(?=(?:会社|(?<!会)社|駅|(?<!都)市|県|町|(?<!地)区|大学|病院)(?![一-鿿々])))"
    rf"|(?P<word>(?<!{WORDLIKE}){_A}{{2,}}|(?<=\d){_A}{{2,}})",
    re.IGNORECASE,
)
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
WORD = re.compile(rf"{_A}+|[^\W_{UNSPACED}]+")
LETTERS = re.compile(f"{_A}+")
KANA = re.compile("[ァ-ヺー]{2,}")
STAMP = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?")
MORROW, EVE = re.compile(r"\b(?:tomorrow|morgen)\b|明日"), re.compile(r"\b(?:yesterday|gestern)\b|昨日")
MASK = "\x00"

ALIASES = {"postgresql": "postgres", "javascript": "js", "typescript": "ts", "kubernetes": "k8s"} | {
    "postgres": "postgresql", "js": "javascript", "ts": "typescript", "k8s": "kubernetes",
}  # fmt: skip
ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "ment", "ation", "ion", "er", "al")
MARK = re.compile(r"[ \t]*(?:[-*•・]|\d{1,3}[.)])\s+")
HEADING = re.compile(r"\s*#.*|.*[:：]\**\s*")
_ABBREVIATED = "".join(
    rf"(?<!\b{one})" for one in (r"[A-Za-z]", "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "Nr", "vs")
)
SENTENCE = re.compile(
    rf"[^\n]+?(?:(?:{_ABBREVIATED}\.(?!\s(?:{'|'.join(MONTHS)})\b)|[!?])[.!?]*[\"'”’)\]*_]*(?=\s|$)\s*"
    r"|[。！？]+[」』）)\"”]*|$)",
    re.IGNORECASE,
)
MONTH = re.compile(rf"(\d{{1,2}}|[{NUMERAL}]{{1,3}})月|(\d{{1,2}})[./](\d{{1,2}})\b")
TURN = re.compile(r"^\[\d+\] ", re.MULTILINE)
DATE = re.compile(r"(\d{4})(?:[-/.]|年)(\d{1,2})(?:[-/.]|月)(\d{1,2})")
HOUR = re.compile(r"(\d{1,2})(?:[:.]\d\d)?\s?(a\.?m|p\.?m)\b|午後\s*(\d{1,2})|\b(\d{1,2}):\d\d|(\d{1,2})時")
BEFORE_MOMENT = re.compile(
    rf"(?:\b(?:{'|'.join(MONTHS)})\.?\s(?:\d+\s?(?:and|to|-|–|,)\s?)?|\b(?:at|until|by|around|um|gegen|ab)\s)$"
)
AFTER_MOMENT = re.compile(
    rf"(?i:\s?(?:[月日年時分]|[ap]\.?m\b|uhr\b|o'clock|(?:st|nd|rd|th)\b|\.?\s(?:of\s)?(?:{'|'.join(MONTHS)})\b))"
)
