"""Summaries by Anthropic's models: asked with a schema, checked against what was said, paid within a daily budget."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from memory_mcp.errors import SummaryFailed
from memory_mcp.models import LESSONS, Message
from memory_mcp.summarizers import asking
from memory_mcp.summarizers.evidence import LONGEST, distilled
from memory_mcp.summarizers.extractive import NOTHING_SAID, SPEAKING, says_something
from memory_mcp.summarizers.grounding import grounded, unsupported
from memory_mcp.summarizers.language import contradicts, spoken_in
from memory_mcp.summarizers.protocol import Budget, Progress, Summary, no_progress, too_long
from memory_mcp.summarizers.source import Said
from memory_mcp.working import LEAST_BUDGET, Part, cost, estimate, windows

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from memory_mcp.summarizers.replies import Reply

TIMEOUT = timedelta(seconds=20)
"""Of one request; hosts give a whole tool call about a minute."""

RETRIES = 2
"""Of one request, by the SDK, after 408, 409, 429, 5xx and broken connections."""

ANSWER_TOKENS = 4_096
WINDOW = 60_000
"""Tokens of a conversation in one request: well within the cheaper half of the price, and a part is soon done again."""

MOST_PARTS = 200
MOST_FACTS = 100
MOST_LESSONS = 20

PRICES = {"claude-haiku-5-5": ((0.10, 0.50), (0.50, 2.50))}
"""Dollars for a million tokens in and out, up to `LONG` tokens in and above. Anthropic's price list of October 2026."""

DEAREST = ((15.0, 75.0), (15.0, 75.0))
"""What a model is charged with whose price is not known here: rather too much than over the limit."""

LONG = 100_000
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


@dataclass(frozen=True)
class _Answer:
    """What a request brought: a usable reply or None, and what it cost in dollars."""

    reply: Reply | None
    dollars: float


class _NoAnswer(SummaryFailed):
    """Nobody knows whether the request was worked on and charged."""


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
        spoken = [
            Part(place, message)
            for place, message in enumerate(messages)
            if message.role in SPEAKING and not message.flagged
        ]
        if not await to_thread.run_sync(says_something, [one.message for one in spoken]):
            raise SummaryFailed(NOTHING_SAID)
        if not any(os.environ.get(name) for name in KEYS):
            raise SummaryFailed("Anthropic was not asked: ANTHROPIC_API_KEY is not set. Set it where the server runs.")
        language = spoken_in(one.message.content for one in spoken if one.message.role == "user")
        said = await to_thread.run_sync(_ready, spoken, self._zone)
        async with _client(self._patience) as client:
            asker = _Asker(client, self.name, self._budget, language, progress, self._window)
            summary = await asker.of_all(said)
        return replace(summary, engine=self.name, notice=asker.notice())


def _ready(spoken: Sequence[Part], zone: tzinfo) -> list[Part]:
    return [replace(one, message=asking.turn(one.message, zone)) for one in spoken]


def _parts(said: Sequence[Part], window: int) -> list[tuple[Part, ...]]:
    """Cut a conversation to the window; pieces keep the places of their messages."""
    found = [
        tuple(replace(part, place=said[part.place].place) for part in stretch)
        for stretch in windows([one.message for one in said], max(LEAST_BUDGET, window))
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
    language: str
    progress: Progress
    window: int
    left_out: Counter[str] = field(default_factory=Counter[str])
    done: int = 0
    of: int = 0

    async def of_all(self, said: Sequence[Part]) -> Summary:
        """Summarize each part that fits in one request, and then, if there are several, their summaries."""
        found: list[Summary] = []
        parts = _parts(said, self.window)
        self.of = len(parts) + (len(parts) > 1)
        await self.progress(0, self.of)
        while parts:
            try:
                found.append(await self._asked(parts[0], await self._source(parts[0])))
            except _TooMuch:
                self._read_less(sum(cost(one.message) for one in parts[0]))
                parts = _parts([one for part in parts for one in part], self.window)
                self.of = self.done + len(parts) + 1
                continue
            del parts[0]
            await self._step()
        return found[0] if len(found) == 1 else await self._merged(found, await self._source(said))

    async def _step(self) -> None:
        self.done += 1
        await self.progress(self.done, self.of)

    async def _source(self, part: Sequence[Part]) -> Said:
        """Make ready what a summary may repeat: the words of turns, their speakers, their times."""
        return await to_thread.run_sync(Said.of, [asking.said(one.message) for one in part])

    def _read_less(self, tokens: int) -> None:
        """Halve what one request holds, since the service found `tokens` too much."""
        self.window = min(self.window, tokens) // 2
        if self.window < LEAST_BUDGET:
            raise SummaryFailed("The model reads less at a time than a few sentences. Set MEMORY_MCP_ANTHROPIC_MODEL.")

    async def _merged(self, found: Sequence[Summary], source: Said) -> Summary:
        """Make one summary of several, in rounds if they do not fit in one request; their facts are joined."""
        facts = list({fact.content: fact for one in found for fact in one.key_facts}.values())
        weightiest = sorted(facts, key=lambda fact: fact.importance or 0, reverse=True)[:MOST_FACTS]
        while len(found) > 1:
            stretches = windows([_as_turn(one) for one in found], max(LEAST_BUDGET, self.window))
            if len(stretches) == len(found):
                raise SummaryFailed("The conversation is too long: the summaries of its parts do not fit together.")
            self.of = self.done + len(stretches) + (len(stretches) > 1)
            try:
                found = [await self._one_of(stretch, source) for stretch in stretches]
            except _TooMuch:
                self._read_less(self.window)
        return replace(found[0], key_facts=tuple(fact for fact in facts if fact in weightiest))

    async def _one_of(self, summaries: Sequence[Part], source: Said) -> Summary:
        merged = await self._asked(summaries, source, merges=True)
        await self._step()
        return merged

    def notice(self) -> str:
        """Say what was left out."""
        return " ".join(_left_out(count, noun) for noun, count in self.left_out.items() if count)

    # ---- one request, and once more if its answer could not be used ------------------------------------------------

    async def _asked(self, part: Sequence[Part], source: Said, *, merges: bool = False) -> Summary:
        conversation = asking.framed([one.message for one in part])
        first = await self._reply(asking.request(conversation, self.language, merges=merges))
        remarks = self._remarks(first, source)
        if not remarks:
            assert first is not None, "a reply without remarks is one"
            return self._as_summary(first, part, source, merges=merges)
        second = await self._reply(asking.request(conversation, self.language, merges=merges, remarks=remarks))
        reply = second or first
        if reply is None:
            raise SummaryFailed("The model's answers could not be used, twice. Nothing of them was stored.")
        if too_long(reply.summary):
            raise SummaryFailed("The model's summaries were too long, twice. Nothing of them was stored.")
        if contradicts(reply.summary, self.language):
            raise SummaryFailed(f"The model did not write in {self.language}, twice. Nothing of it was stored.")
        return self._as_summary(reply, part, source, merges=merges)

    def _remarks(self, reply: Reply | None, source: Said) -> list[str]:
        """Say what is wrong with a reply."""
        if reply is None:
            return ["It was not one complete JSON object of the given form with a summary of the conversation."]
        remarks: list[str] = []
        if length := too_long(reply.summary):
            remarks.append(f"The summary has {length}. Write a shorter one.")
        if contradicts(reply.summary, self.language):
            remarks.append(f"The summary is not in {self.language}.")
        if invented := unsupported(reply.summary, source):
            named = ", ".join(repr(one) for one in invented[:10])
            remarks.append(f"These do not occur in the conversation: {named}. Leave out what says so.")
        return remarks

    def _as_summary(self, reply: Reply, part: Sequence[Part], source: Said, *, merges: bool) -> Summary:
        """Keep of a reply what the conversation supports, and count what is left out; summaries are no evidence."""
        text, dropped = grounded(reply.summary, source)
        if not text.strip():
            raise SummaryFailed("Nothing of the model's summary occurs in the conversation. Nothing was stored.")
        lessons = [one for one in reply.lessons if 0 < len(one.strip()) <= LONGEST and not unsupported(one, source)]
        told = [] if merges else reply.facts
        found = [distilled(fact, part) for fact in told if not unsupported(fact.content, source)]
        facts = [fact for fact in found if fact][:MOST_FACTS]
        self.left_out += Counter(
            {
                "sentence": len(dropped),
                "key fact": len(told) - len(facts),
                "lesson": len(reply.lessons) - len(lessons[:MOST_LESSONS]),
            }
        )
        return Summary(text, tuple(facts), tuple(lessons[:MOST_LESSONS]), outcome=reply.ended)

    # ---- the wire --------------------------------------------------------------------------------------------------

    async def _reply(self, text: str) -> Reply | None:
        """Make one request within the budget; gives a usable reply or None."""
        expected = _price(self.model, estimate(asking.SYSTEM) + estimate(text), ANSWER_TOKENS)
        await self.budget.spend(expected)  # and then looks: another process may be about to spend the rest
        if await self.budget.left() < 0:
            await self.budget.spend(-expected)
            raise SummaryFailed(
                "Today's budget for Anthropic is used up (MEMORY_MCP_ANTHROPIC_DAILY_USD). It is tried again tomorrow."
            )
        try:
            answer = await self._requested(text)
        except (SummaryFailed, _TooMuch) as error:
            if not isinstance(error, _NoAnswer):
                await self.budget.spend(-expected)
            raise
        await self.budget.spend(answer.dollars - expected)
        return answer.reply

    async def _requested(self, text: str) -> _Answer:
        anthropic, replies = import_module("anthropic"), import_module("memory_mcp.summarizers.replies")
        # The form goes as a schema: with `output_format` the SDK would read the answer itself and, where that is not
        # quite JSON, raise an error that knows neither its text nor its price nor why it ended.
        try:
            message = await self.client.messages.parse(
                model=self.model,
                max_tokens=ANSWER_TOKENS,
                system=asking.SYSTEM,
                messages=[{"role": "user", "content": text}],
                thinking={"type": "disabled"},
                output_config={"format": {"type": "json_schema", "schema": _schema()}},
            )
        except anthropic.AnthropicError as error:
            raise _told(error, self._seconds()) from error
        except ValueError as error:  # a proxy's page instead of the service's answer
            raise SummaryFailed("What came back from Anthropic's address was no answer of its service.") from error
        paid = _price(self.model, message.usage.input_tokens, message.usage.output_tokens)
        said = "".join(block.text for block in message.content if block.type == "text")
        return _Answer(replies.usable(replies.read(said)) if message.stop_reason == "end_turn" else None, paid)

    def _seconds(self) -> float:
        timeout: Any = self.client.timeout
        return timeout if isinstance(timeout, int | float) else TIMEOUT.total_seconds()


def _as_turn(part: Summary) -> Message:
    lessons = LESSONS + "\n".join(part.lessons) if part.lessons else ""
    return Message("assistant", part.summary + lessons, "summary")


@cache
def _schema() -> dict[str, Any]:
    anthropic, replies = import_module("anthropic"), import_module("memory_mcp.summarizers.replies")
    return anthropic.transform_schema(replies.Reply)


def _left_out(count: int, noun: str) -> str:
    told = f"1 {noun} was" if count == 1 else f"{count} {noun}s were"
    return f"{told} left out: the conversation does not say so."


def _price(model: str, tokens_in: int, tokens_out: int) -> float:
    """Say what a request costs, in dollars."""
    dollars_in, dollars_out = PRICES.get(model, DEAREST)[tokens_in > LONG]
    return (tokens_in * dollars_in + tokens_out * dollars_out) / 1_000_000


def _told(error: Any, seconds: float) -> Exception:
    """Say in our words what the service answered; its own may quote what was sent."""
    anthropic = import_module("anthropic")
    status = getattr(error, "status_code", None)
    if status == 413 or (status == 400 and "too long" in str(error)):
        return _TooMuch()
    if isinstance(error, anthropic.APITimeoutError):
        return _NoAnswer(f"Anthropic did not answer within {seconds:g} seconds.")
    if status in (401, 403):
        return SummaryFailed(f"Anthropic refused the key ({status}). Check ANTHROPIC_API_KEY.")
    if status == 404:
        return SummaryFailed("Anthropic does not know the model. Check MEMORY_MCP_ANTHROPIC_MODEL.")
    if status == 429:
        return SummaryFailed("Anthropic's rate limit is reached (429).")
    if status is not None:
        return SummaryFailed(f"Anthropic could not do it ({status}).")
    return SummaryFailed("Anthropic could not be reached.")
