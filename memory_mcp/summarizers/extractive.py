"""Summaries that quote: the most telling sentences of a conversation, chosen on this machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from math import log
from typing import TYPE_CHECKING
from zlib import crc32

from anyio import to_thread

from memory_mcp.errors import EmbedderUnavailable, SummaryFailed
from memory_mcp.models import Message
from memory_mcp.statements import Sentence, facts, said
from memory_mcp.summarizers.protocol import MAX_CHARACTERS, MAX_WORDS, Progress, Summary, no_progress
from memory_mcp.text import asks, is_cjk
from memory_mcp.tokens import index_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SENTENCES = 12
"""More are no summary but a transcript; twelve of average length fill the 200 words."""

MAX_SENTENCE = 600
"""Characters; what runs on longer is a list, a log or a mistake, and fills a summary by itself."""

MAX_LOOKED_AT = 100_000
"""Characters in all of the sentences compared; about two seconds of the default model. More are sampled evenly."""

MAX_FACTS = 50
"""The newest are kept: later statements correct earlier ones."""

VARIETY = 0.3
"""Share of being unlike what is chosen already (Carbonell & Goldstein 1998, with lambda = 0.7)."""

SAME = 0.95
"""Cosine from which two sentences say the same."""

TELLING = 60
"""Characters of a sentence that can say something by itself; a third of that in Japanese. Shorter ones count less."""

NOTHING_SAID = (
    "Nothing to summarize: only greetings, orders to the assistant, or nothing, was said. Give `messages`, or your own"
    " `summary`."
)

SPEAKING = frozenset({"user", "assistant"})
"""Roles whose words are summarized. System text and tool output are not part of what was said."""


class ExtractiveSummarizer:
    """Quotes: sentences of the conversation word for word, in their order, and nothing else. Works offline.

    Chosen are those near the middle of what was said (mean cosine to all others) that are unlike each other, sooner if
    they carry names, numbers, decisions or the speaker's own affairs. Key facts are statements of the user about
    which a rule leaves no doubt; lessons are left to those who understand the text.
    """

    name = "extractive"

    def __init__(self, embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]]) -> None:
        self._embed = embed

    async def summarize(self, messages: Sequence[Message], progress: Progress = no_progress) -> Summary:
        """Quote the most telling sentences. Raises `SummaryFailed` if nobody said anything of substance."""
        await progress(0, 1)
        telling = await to_thread.run_sync(_telling, messages)
        if not telling:
            raise SummaryFailed(NOTHING_SAID)
        looked_at = _evenly(telling)
        vectors, by_words = await self._vectors([one.text for one in looked_at])
        lines = await to_thread.run_sync(_choose, looked_at, vectors)
        if not lines:
            raise SummaryFailed(
                "Nothing to summarize: every sentence is longer than a summary. Give your own `summary`."
            )
        stated = await to_thread.run_sync(facts, messages)
        await progress(1, 1)
        notices = (
            by_words,
            _partly("sentences", len(looked_at), len(telling), "evenly spread"),
            _partly("key facts", min(len(stated), MAX_FACTS), len(stated), "the newest"),
        )
        return Summary("\n".join(lines), stated[-MAX_FACTS:], engine=self.name, notice=" ".join(filter(None, notices)))

    async def _vectors(self, texts: list[str]) -> tuple[NDArray[np.float32], str]:
        try:
            return await self._embed(texts), ""
        except EmbedderUnavailable as error:
            return _word_vectors(texts), f"Summarized by words in common, not by meaning: {error}"


def _partly(what: str, used: int, of: int, which: str) -> str:
    return f"The summary uses {used} of {of} {what}, {which}." if used < of else ""


# ---- choosing --------------------------------------------------------------------------------------------------------

_FILLER = re.compile(
    r"\b(?:hi|hello|hey|dear|there|good (?:morning|afternoon|evening|night)|bye|goodbye|see you|later|thanks?|thank you"
    r"|thx|so much|very much|you're welcome|welcome|please|ok|okay|yes|yeah|yep|no|nope|sure|great|cool|nice|perfect"
    r"|wow|got it|sounds good|how are you|i'm (?:fine|good|well)|of course|no problem|haha|lol|hm+)\b"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|はじめまして|(?:どうも)?ありがとう(?:ございます|ございました)?"
    r"|どういたしまして|はい|うん|いいえ|ええ|なるほど|了解(?:です|しました)?|承知しました|わかりました|分かりました"
    r"|(?:どうぞ)?よろしく(?:お願いします|お願いいたします)?|お疲れ様(?:です|でした)?|さようなら|またね|すみません",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-z]|[ァ-ヺ]{3}")
_OWN_AFFAIR = re.compile(
    r"\b(?:I|I'm|I've|my|we|our|decided|agreed|chose|will|must|prefer|because|deadline)\b"
    r"|私|僕|俺|我々|決め|決ま|予定|必要|ため|ので|から"
)


def says_something(messages: Sequence[Message]) -> bool:
    """Whether anybody said more than greetings: else there is nothing to summarize."""
    return bool(_telling(messages))


def _telling(messages: Sequence[Message]) -> list[Sentence]:
    """Give all sentences of users and assistants that say something and command nobody."""
    spoken = (message for message in messages if message.role in SPEAKING and not message.flagged)
    return [one for message in spoken for one in said(message) if _tells(one)]


def _tells(sentence: Sentence) -> bool:
    """Whether it is more than a greeting, an interjection or an assistant's counter-question."""
    if len(sentence.text) > MAX_SENTENCE:
        return False
    rest = _FILLER.sub("", sentence.text.replace("’", "'"))
    return _LETTER.search(rest) is not None and (sentence.by_user or not asks(sentence.text))


def _weight(sentence: Sentence) -> float:
    """Prefer statements that carry something to remember. Set by judgement on English and Japanese chats."""
    text = sentence.text
    weight = 1.0 + 0.15 * bool(_NUMBER.search(text)) + 0.15 * bool(_NAME.search(text))
    weight += 0.25 * bool(_OWN_AFFAIR.search(text)) + 0.15 * sentence.by_user
    chatter = 0.5 if asks(text) else 0.8 if text.endswith(("!", "！")) else 1.0
    return weight * chatter * min(1.0, len(text) / (TELLING // 3 if is_cjk(text) else TELLING))


def _choose(candidates: Sequence[Sentence], vectors: NDArray[np.float32]) -> list[str]:
    """Choose lines by maximal marginal relevance while they fit together, and give them in their order."""
    np = import_module("numpy")
    central = np.maximum(vectors @ vectors.mean(axis=0), 0)  # the mean cosine to all, without comparing each with each
    value = (central / max(central.max(), 1e-6) + 0.1) * np.array([_weight(one) for one in candidates])
    likeness = np.zeros(len(candidates))
    left, chosen = np.ones(len(candidates), dtype=bool), dict[int, str]()
    while left.any() and len(chosen) < min(MAX_SENTENCES, max(3, len(candidates) // 2)):
        best = int(np.argmax(np.where(left, (1 - VARIETY) * value - VARIETY * likeness, -np.inf)))
        left[best] = False
        if likeness[best] < SAME and _fits([*chosen.values(), candidates[best].line]):
            chosen[best] = candidates[best].line
            likeness = np.maximum(likeness, vectors @ vectors[best])
    return [chosen[place] for place in sorted(chosen)]


def _fits(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return len(text) <= MAX_CHARACTERS if is_cjk(text) else len(text.split()) <= MAX_WORDS


def _evenly(candidates: Sequence[Sentence]) -> Sequence[Sentence]:
    """Take evenly spread sentences, so many that together they have about MAX_LOOKED_AT characters."""
    keep = len(candidates) * MAX_LOOKED_AT // max(sum(len(one.text) for one in candidates), MAX_LOOKED_AT)
    return [candidates[place * len(candidates) // keep] for place in range(keep)]


def _word_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Stand in for a model: tokens, hashed to 1,024 numbers, rare ones weighing more (tf-idf), of unit length."""
    np = import_module("numpy")
    bags = [Counter(index_tokens(text).split()) for text in texts]
    spread = Counter(token for bag in bags for token in bag)
    vectors = np.zeros((len(texts), 1_024), dtype=np.float32)
    for row, bag in zip(vectors, bags, strict=True):
        for token, count in bag.items():
            row[crc32(token.encode("utf-8", "replace")) % len(row)] += count * log(1 + len(texts) / spread[token])
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
