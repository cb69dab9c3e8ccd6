"""What was said in a conversation, sentence by sentence, and what of it a user states beyond doubt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_mcp.injection import commands_assistant
from memory_mcp.models import KeyFact, Kind, Message
from memory_mcp.text import asks, sentences


@dataclass(frozen=True)
class Sentence:
    """One whole sentence of a message, whitespace folded. `speaker` is empty where only a role is known."""

    text: str
    speaker: str
    by_user: bool

    @property
    def line(self) -> str:
        """The sentence word for word, behind the name of who said it where that is known."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


# ---- sentences -------------------------------------------------------------------------------------------------------

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ENDED = re.compile(r"""[.!?。！？｡．…]["'”’)\]）」』]*$""")
_SHORT_ENDS = re.compile(
    r"(?<=[!?])\s+"
    r"|(?<=[。！？])(?![」』）”’。！？])\s*(?!$)"
    r"|(?<=\.)(?<![A-Z]\.)(?<![DMS][rst]\.)(?<!Mrs\.)(?<!Prof\.)(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z])"
)


def said(message: Message) -> Iterator[Sentence]:
    """Cut a message into whole sentences, as they stand there; blocks of code are left out."""
    name = message.name.strip()
    speaker = "" if name == message.role else name
    for line in _CODE.sub("\n", message.content).splitlines():
        for text in _whole(" ".join(line.split())):
            yield Sentence(text, speaker, message.role == "user")


def _whole(line: str) -> Iterator[str]:
    """Undo what `text.sentences` does for embedding: join what it cut in mid-sentence, part what it joined."""
    start = end = 0
    for piece in sentences(line):
        end = line.index(piece, end) + len(piece)
        if _ENDED.search(piece) or end == len(line):
            yield from filter(None, _SHORT_ENDS.split(line[start:end].strip()))
            start = end


# ---- facts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A form in which people state something of one kind about themselves; it begins the sentence."""

    kind: Kind
    form: re.Pattern[str]


def _rule(kind: Kind, form: str) -> Rule:
    return Rule(kind, re.compile(form, re.IGNORECASE))


_KIN = "(?:wife|husband|partner|son|daughter|brother|sister|mother|father|mum|mom|dad|boss|friend|colleague|cat|dog)"
_ME = "(?:(?:私|わたし|僕|ぼく|俺)[はも]、?)?[^は]{1,60}"  # another topic would be somebody else

RULES = (
    _rule(
        Kind.PREFERENCE,
        r"I (?:(?:really|also|still) )?(?:prefer|(?:like|love|enjoy|hate|dislike|can't stand)(?! the\b)) "
        r"(?!h(?:im|er|is|ow)\b|you|wh|to (?:think|say|know|help))"
        r"(?!.*\b(?:it|its|th(?:is|at|ese|ose|em|ey|ere)|here)\b)",  # what these words mean stands elsewhere
    ),
    _rule(Kind.PREFERENCE, r"my favou?rite [\w ]+ (?:is|are) "),
    _rule(Kind.FACT, r"my name is "),
    _rule(Kind.FACT, r"I (?:live|work|study|grew up|was born) (?:in|at|for|as|near) "),
    _rule(Kind.FACT, r"I(?:'m| am) (?:allergic to|vegetarian|vegan|diabetic|based in|from|\d+ years old)\b"),
    _rule(Kind.FACT, r"I(?:'ve| have)? moved (?:from \w+ )?to "),
    _rule(Kind.RELATIONSHIP, rf"my {_KIN}(?:'s name is| is (?:called|named)) "),
    _rule(
        Kind.DECISION,
        r"(?:we|I)(?:'ve| have)? (?:(?:finally|now|just) )?(?:(?:decided|agreed) (?:to|on|that|against)|settled on) ",
    ),
    _rule(Kind.PREFERENCE, rf"{_ME}が(?:大好き|好き|大嫌い|嫌い|苦手)(?:です|だ|なんです)?[よね]*$"),
    _rule(Kind.FACT, rf"{_ME}(?:に住んでい?|で働いてい?|に勤めてい?)(?:ます|る)[よね]*$"),
    _rule(Kind.FACT, rf"{_ME}(?:アレルギー|出身)(?:です|だ|があります|なんです)[よね]*$"),
    _rule(Kind.FACT, r"(?:(?:私|わたし|僕|ぼく|俺)の名前は.{1,30}(?:です|だ|と[言い]います)|.{1,30}と申します)$"),
    _rule(Kind.DECISION, r".{2,80}(?:に決めました|に決めた|に決まりました|ことにしました|ことにした)[よね]*$"),
)
"""Few and narrow: a fact missed is still in the turns, a fact made up is remembered for good."""

SURE, LIKELY = 1.0, 0.7
"""Confidence of what the user asked to remember, and of what a rule took from the talk."""

_OPENING = re.compile(
    r"^(?:(?:and|also|so|well|oh|actually|by the way|btw|hi|hello|hey|yes|ok|okay|thanks|fyi|please)\b[,.!:]*\s+)*",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"^(?:remember|keep in mind|don't forget)(?: that\b|:|(?= (?:I|my|we|our)\b)) ?(?=\S)"
    r"(?!(?:you|your|to|always|never|time|day|night|one|when)\b)",  # a wish to the assistant, or the start of a story
    re.IGNORECASE,
)
_REMEMBER_JA = re.compile(r"(?<=......)(?:と|って|を|は|、)?覚えておいて(?:ください|下さい|ね)?$")
_REMEMBER_THAT = re.compile(
    r"(?:please )?(?:remember|don't forget) (?:this|that|it)"
    r"|(?:(?:これ|それ|この(?:こと|事))[をは]?)?覚えておいて(?:ください|下さい|ね)?",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:if|would|could|might|should|maybe|perhaps|probably|wish|suppose|imagine|pretend|unless|used to|almost)\b"
    r"|\b(?:not|never|no longer|says?|said|told|remember)\b|n't\b(?! stand)"
    r"|もし|たら|れば|なら|かも|だろう|でしょう|と思|ない|ません|なかった|か$|かな|って[言い]|らしい|みたい|そうです",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r'"[^"]*(?:"|\Z)|“[^”]*(?:”|\Z)|«[^»]*(?:»|\Z)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|^[ \t]*>[^\n]*', re.MULTILINE
)
_GAP = "\0"  # stands for what is quoted; a sentence that holds it states nothing
_STOPS = ".!。！｡ "
_LONGEST = 300  # characters; what runs on longer is not one statement


def facts(messages: Sequence[Message]) -> tuple[KeyFact, ...]:
    """Find what users state for certain, word for word; what was told twice stands where it was told last.

    Each points to the messages that state it.
    Questions, guesses, negations, quotations and whole turns that try to steer a model state nothing.
    """
    found: dict[str, KeyFact] = {}
    for place, message in enumerate(messages):
        if message.role == "user" and not commands_assistant(message.content):
            for fact in _facts(replace(message, content=_QUOTED.sub(_GAP, message.content))):
                before = found.pop(fact.content, fact).evidence
                found[fact.content] = replace(fact, evidence=tuple(dict.fromkeys((*before, place))))
    return tuple(found.values())


def _facts(message: Message) -> Iterator[KeyFact]:
    before: Sentence | None = None
    for sentence in said(message):
        points_back = _REMEMBER_THAT.fullmatch(_bare(sentence)) is not None
        meant = before if points_back else sentence
        kind, confidence = _judge(meant, sure=points_back) if meant else (None, LIKELY)
        if meant and kind:
            yield KeyFact(meant.line, kind, confidence=confidence)
        before = sentence


def _judge(sentence: Sentence, *, sure: bool) -> tuple[Kind | None, float]:
    """Say which kind of fact a sentence states, if any, and how sure that is."""
    if _GAP in sentence.text or asks(sentence.text) or len(sentence.text) > _LONGEST:
        return None, LIKELY
    bare = _bare(sentence)
    statement = _REMEMBER_JA.sub("", _REMEMBER.sub("", bare))
    kind = next((rule.kind for rule in RULES if rule.form.match(_OPENING.sub("", statement))), None)
    if sure or statement != bare:
        return kind or Kind.FACT, SURE
    return (None if _DOUBT.search(bare) else kind), LIKELY


def _bare(sentence: Sentence) -> str:
    """Leave out what does not matter to the rules: an opening, closing marks, curly apostrophes."""
    return _OPENING.sub("", sentence.text.replace("’", "'").rstrip(_STOPS))
