"""Summaries by Anthropic's models: asked with a schema, checked against what was said, paid within a daily budget."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, timedelta, tzinfo
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from memory_mcp.errors import SummaryFailed
from memory_mcp.models import KeyFact, Message
from memory_mcp.summarizers import asking
from memory_mcp.summarizers.extractive import NOTHING_SAID, SPEAKING, says_something
from memory_mcp.summarizers.grounding import Source, grounded, unsupported
from memory_mcp.summarizers.language import SCRIPTED, language
from memory_mcp.summarizers.protocol import Budget, Progress, Summary, no_progress, too_long
from memory_mcp.working import LEAST_BUDGET, Part, estimate, windows

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from memory_mcp.summarizers.replies import Fact, Reply

TIMEOUT = timedelta(seconds=20)
"""Of one request; hosts give a whole tool call about a minute."""

RETRIES = 2
"""Of one request, by the SDK, after 408, 409, 429, 5xx and broken connections."""

ANSWER_TOKENS = 4_096
WINDOW = 60_000
"""Tokens of a conversation in one request: well within the cheaper half of the price, and a part is soon done again."""

MOST_PARTS = 200

PRICES = {"claude-haiku-5-5": ((0.10, 0.50), (0.50, 2.50))}
"""Dollars for a million tokens in and out, up to `LONG` tokens in and above. Anthropic's price list of October 2026."""

DEAREST = ((15.0, 75.0), (15.0, 75.0))
"""What a model is charged with whose price is not known here: rather too much than over the limit."""

LONG = 100_000
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


@dataclass(frozen=True)
class _Answer:
    """What a request brought: a usable reply or None, what it cost in dollars, whether it was too long to be read."""

    reply: Reply | None
    dollars: float | None


class _TooMuch(Exception):
    """The service says that the request is longer than it reads."""


class AnthropicSummarizer:
    """Asks one of Anthropic's models; whatever it says that the conversation does not hold is left out.

    `zone` is the person's, for times; `window` bounds in tokens what one request holds of a conversation.
    """

    def __init__(
        self, model: str, budget: Budget, zone: tzinfo, *, window: int = WINDOW, patience: timedelta = TIMEOUT
    ) -> None:
        self.name = model
        self._budget = budget
        self._zone = zone
        self._window = window
        self._patience = patience

    async def summarize(self, messages: Sequence[Message], progress: Progress = no_progress) -> Summary:
        """Ask for a summary, in parts if the conversation is long. Raises `SummaryFailed`; then nothing is usable."""
        said = [Part(place, message) for place, message in enumerate(messages) if message.role in SPEAKING]
        if not await to_thread.run_sync(says_something, [one.message for one in said]):
            raise SummaryFailed(NOTHING_SAID)
        if not any(os.environ.get(name) for name in KEYS):
            raise SummaryFailed("Anthropic was not asked: ANTHROPIC_API_KEY is not set. Set it where the server runs.")
        own = "\n".join(one.message.content for one in said if one.message.role == "user")
        async with _client(self._patience) as client:
            asker = _Asker(client, self.name, self._budget, self._zone, language(own), progress)
            return replace(await asker.of_parts(_parts(said, self._window), self._window), engine=self.name)


def _parts(said: Sequence[Part], window: int) -> list[tuple[Part, ...]]:
    """Cut a conversation to the window; pieces keep the places of their messages.

    A turn is measured with the head under which it is sent.
    """
    headed = [replace(one.message, name=asking.head(one.message, UTC)) for one in said]
    found = [
        tuple(
            Part(said[part.place].place, replace(part.message, name=said[part.place].message.name)) for part in stretch
        )
        for stretch in windows(headed, max(LEAST_BUDGET, window))
    ]
    if len(found) > MOST_PARTS:
        raise SummaryFailed(f"The conversation is too long to summarize: {len(found)} parts; at most {MOST_PARTS}.")
    return found


@asynccontextmanager
async def _client(patience: timedelta) -> AsyncGenerator[AsyncAnthropic]:
    """Open the SDK's client; it reads its key and address from the environment."""
    anthropic = import_module("anthropic")  # half a second that only this engine needs
    async with anthropic.AsyncAnthropic(timeout=patience.total_seconds(), max_retries=RETRIES) as client:
        yield client


@dataclass
class _Asker:
    """One conversation's requests."""

    client: AsyncAnthropic
    model: str
    budget: Budget
    zone: tzinfo
    language: str
    progress: Progress
    done: int = 0
    of: int = 0

    async def of_parts(self, parts: Sequence[tuple[Part, ...]], window: int) -> Summary:
        """Summarize each part, and then, if there are several, their summaries."""
        self.of = len(parts) + (len(parts) > 1)
        await self.progress(self.done, self.of)
        found = [one for part in parts for one in await self._of_part(part)]
        if len(found) == 1:
            return found[0]
        return await self._merged(
            found, Source.of(_words(part, self.zone) for stretch in parts for part in stretch), window
        )

    async def _of_part(self, part: tuple[Part, ...]) -> list[Summary]:
        """Summarize one part; if the service finds it too long, in halves."""
        source = await to_thread.run_sync(Source.of, [_words(one, self.zone) for one in part])
        try:
            summary = await self._asked(part, source)
        except _TooMuch:
            halves = _halves(part)
            self.of += len(halves)
            return [one for half in halves for one in await self._of_part(half)]
        await self._step()
        return [summary]

    async def _merged(self, found: Sequence[Summary], source: Source, window: int) -> Summary:
        """Make one summary of several, in rounds if they do not fit in one request; their facts are joined."""
        facts = tuple({fact.content: fact for one in found for fact in one.key_facts}.values())
        while len(found) > 1:
            told = [Message("assistant", one.summary) for one in found]
            stretches = windows(told, max(LEAST_BUDGET, window))
            if len(stretches) == len(found):
                raise SummaryFailed(
                    "The conversation is too long to summarize: its parts' summaries do not fit together."
                )
            found = [await self._asked(stretch, source, merges=True) for stretch in stretches]
            self.of += len(found) - 1
            await self._step()
        lessons = tuple(dict.fromkeys(lesson for one in found for lesson in one.lessons))
        return replace(found[0], key_facts=facts, lessons=lessons)

    async def _step(self) -> None:
        self.done += 1
        await self.progress(min(self.done, self.of), self.of)

    # ---- one request, and once more if its answer could not be used ------------------------------------------------

    async def _asked(self, part: Sequence[Part], source: Source, *, merges: bool = False) -> Summary:
        conversation = asking.framed(part, self.zone)
        first = await self._reply(asking.request(conversation, self.language, merges=merges))
        remarks = self._remarks(first, source)
        if not remarks:
            assert first is not None, "a reply without remarks is one"
            return self._as_summary(first, part, source)
        second = await self._reply(asking.request(conversation, self.language, merges=merges, remarks=remarks))
        reply = second or first
        if reply is None:
            raise SummaryFailed("The model's answers could not be used, twice. Nothing of them was stored.")
        if too_long(reply.summary):
            raise SummaryFailed("The model's summaries were too long, twice. Nothing of them was stored.")
        if self.language in SCRIPTED and language(reply.summary) != self.language:
            raise SummaryFailed(f"The model did not write in {self.language}, twice. Nothing of it was stored.")
        return self._as_summary(reply, part, source)

    def _remarks(self, reply: Reply | None, source: Source) -> list[str]:
        """Say what is wrong with a reply."""
        if reply is None:
            return ["It was not one complete JSON object of the given form with a summary of the conversation."]
        remarks: list[str] = []
        if length := too_long(reply.summary):
            remarks.append(f"The summary has {length}. Write a shorter one.")
        if self.language and language(reply.summary) not in ("", self.language):
            remarks.append(f"The summary is not in {self.language}.")
        if invented := unsupported(reply.summary, source):
            named = ", ".join(repr(one) for one in invented[:10])
            remarks.append(f"These do not occur in the conversation: {named}. Leave out what says so.")
        return remarks

    def _as_summary(self, reply: Reply, part: Sequence[Part], source: Source) -> Summary:
        """Keep of a reply what the conversation supports, and say what was left out."""
        text, dropped = grounded(reply.summary, source)
        if not text.strip():
            raise SummaryFailed("Nothing of the model's summary occurs in the conversation. Nothing was stored.")
        lessons = tuple(one for one in reply.lessons if one.strip() and not unsupported(one, source))
        facts = [fact for fact in reply.facts if _is_supported(fact, part, source)]
        notices = (
            _left_out(len(dropped), "sentence"),
            _left_out(len(reply.facts) - len(facts), "key fact"),
            _left_out(len(reply.lessons) - len(lessons), "lesson"),
        )
        return Summary(
            text,
            tuple(_key_fact(fact, part) for fact in facts),
            lessons,
            notice=" ".join(filter(None, notices)),
            outcome=reply.ended,
        )

    # ---- the wire --------------------------------------------------------------------------------------------------

    async def _reply(self, text: str) -> Reply | None:
        """Make one request within the budget; gives a usable reply or None."""
        expected = _price(self.model, estimate(asking.SYSTEM) + estimate(text), ANSWER_TOKENS)
        if await self.budget.left() < expected:
            raise SummaryFailed(
                "Today's budget for Anthropic is used up (MEMORY_MCP_ANTHROPIC_DAILY_USD). It is tried again tomorrow."
            )
        await self.budget.spend(expected)  # before the request: another process counts on it, too
        try:
            answer = await self._requested(text)
        except BaseException:
            await self.budget.spend(-expected)
            raise
        if answer.dollars is not None:
            await self.budget.spend(answer.dollars - expected)
        return answer.reply

    async def _requested(self, text: str) -> _Answer:
        anthropic, pydantic = import_module("anthropic"), import_module("pydantic")
        replies = import_module("memory_mcp.summarizers.replies")
        try:
            message = await self.client.messages.parse(
                model=self.model,
                max_tokens=ANSWER_TOKENS,
                system=asking.SYSTEM,
                messages=[{"role": "user", "content": text}],
                thinking={"type": "disabled"},
                output_format=replies.Reply,
            )
        except pydantic.ValidationError as error:
            return _Answer(replies.usable(replies.recovered(_unread(error))), None)
        except anthropic.AnthropicError as error:
            raise _told(error, self._seconds()) from error
        except ValueError as error:  # a proxy's page instead of the service's answer
            raise SummaryFailed("What came back from Anthropic's address was no answer of its service.") from error
        paid = _price(self.model, message.usage.input_tokens, message.usage.output_tokens)
        whole = message.stop_reason == "end_turn"
        return _Answer(replies.usable(message.parsed_output) if whole else None, paid)

    def _seconds(self) -> float:
        timeout: Any = self.client.timeout
        return timeout if isinstance(timeout, int | float) else TIMEOUT.total_seconds()


def _words(part: Part, zone: tzinfo) -> str:
    """Give all that a summary may repeat of a turn: its words, its speaker, its time."""
    return asking.framed([part], zone)


def _halves(part: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    total = sum(estimate(one.message.content) for one in part)
    if total <= 2 * LEAST_BUDGET:
        raise SummaryFailed("The model reads less at a time than a few sentences. Set MEMORY_MCP_ANTHROPIC_MODEL.")
    return _parts(part, max(LEAST_BUDGET, total // 2 + 64))


def _is_supported(fact: Fact, part: Sequence[Part], source: Source) -> bool:
    cited = any(1 <= number <= len(part) for number in fact.turns)
    return cited and bool(fact.content.strip()) and not unsupported(fact.content, source)


def _key_fact(fact: Fact, part: Sequence[Part]) -> KeyFact:
    evidence = dict.fromkeys(part[number - 1].place for number in fact.turns if 1 <= number <= len(part))
    key = fact.key if fact.key.isidentifier() and len(fact.key) <= 60 else ""
    return KeyFact(fact.content, fact.kind, fact.importance, fact.confidence, key, evidence=tuple(evidence))


def _left_out(count: int, noun: str) -> str:
    if not count:
        return ""
    told = f"1 {noun} was" if count == 1 else f"{count} {noun}s were"
    return f"{told} left out: the conversation does not say so."


def _price(model: str, tokens_in: int, tokens_out: int) -> float:
    """Say what a request costs, in dollars."""
    dollars_in, dollars_out = PRICES.get(model, DEAREST)[tokens_in > LONG]
    return (tokens_in * dollars_in + tokens_out * dollars_out) / 1_000_000


def _unread(error: Any) -> str:
    """Give the whole text that was not of the form, which pydantic keeps in its report; '' where a part was not."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid" and isinstance(first["input"], str):
        return first["input"]
    return "" if first["loc"] else json.dumps(first["input"])


def _told(error: Any, seconds: float) -> Exception:
    """Say in our words what the service answered; its own may quote what was sent."""
    anthropic = import_module("anthropic")
    status = getattr(error, "status_code", None)
    if status == 413 or (status == 400 and "too long" in str(error)):
        return _TooMuch()
    if isinstance(error, anthropic.APITimeoutError):
        return SummaryFailed(f"Anthropic did not answer within {seconds:g} seconds.")
    if status in (401, 403):
        return SummaryFailed(f"Anthropic refused the key ({status}). Check ANTHROPIC_API_KEY.")
    if status == 404:
        return SummaryFailed("Anthropic does not know the model. Check MEMORY_MCP_ANTHROPIC_MODEL.")
    if status == 429:
        return SummaryFailed("Anthropic's rate limit is reached (429).")
    if status is not None:
        return SummaryFailed(f"Anthropic could not do it ({status}).")
    return SummaryFailed("Anthropic could not be reached.")
