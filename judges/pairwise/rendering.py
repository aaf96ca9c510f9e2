"""Render battles as requests."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from data.models import OrderPolicy, Passage, Presentation
from data.steering.disguises import Flag
from judges.base import JudgeInput
from judges.llm.requests import Message, Request
from judges.llm.templates import delimit, mark_of, passage_text, sanitise
from judges.pairwise.cleaning import clean
from judges.pairwise.prompt import Prompt, WorkedExample, fill
from judges.spec import Cleaning, JudgeSpec, Protection


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both answers, cleaned and sanitised, with flags."""

    a: str
    b: str
    flags_a: tuple[Flag, ...] = ()
    flags_b: tuple[Flag, ...] = ()


MAX_VOTES = 100
MAX_RETRIES = 100


def samples_after(vote: int) -> range:
    """Return sample numbers for retries of a vote, which the reply cache treats as new requests."""
    return range(vote + MAX_VOTES, vote + MAX_VOTES * MAX_RETRIES, MAX_VOTES)


@dataclass(frozen=True)
class Renderer:
    """Renders a judge's requests with a common prefix."""

    spec: JudgeSpec
    prompt: Prompt

    def sides(self, judge_input: JudgeInput) -> Sides:
        """Clean and sanitise both answers."""
        return sanitised_sides(
            self.spec.cleaning, self.spec.protection, judge_input.answer_a, judge_input.answer_b
        )

    def request(
        self,
        judge_input: JudgeInput,
        sides: Sides,
        presentation: Presentation,
        *,
        sample: int = 0,
        again: bool = False,
    ) -> Request:
        """Build the request for one presentation."""
        first, second = (sides.a, sides.b) if presentation is Presentation.A_FIRST else (sides.b, sides.a)
        question = judge_input.question
        texts = {"question": self._safe(question.question), "answer_1": first, "answer_2": second}
        placeholders = self.prompt.placeholders("pair")
        if "reference" in placeholders:
            texts["reference"] = self._safe(question.reference or "")
        passages = question.passages if "passages" in placeholders else ()
        if self.prompt.literal is None:
            content = self._pair(texts, [self._passage(passage) for passage in passages])
        else:
            content = self.prompt.literal.fill(texts, [self._safe_passage(passage) for passage in passages])
        if again:
            content = f"{content}\n\n{self.prompt.section('again')}".rstrip()
        return Request(
            endpoint=self.spec.endpoint,
            model=self.spec.model,
            messages=(*self.prefix, Message("user", content)),
            sampling=self.spec.sampling,
            without=self.spec.without,
            free=self.spec.price == 0,
            sample=sample,
        )

    @cached_property
    def prefix(self) -> tuple[Message, ...]:
        """Rubric and worked examples, byte-identical in every request of the judge."""
        if self.prompt.literal is not None:
            return tuple(Message(role, text) for role, text in self.prompt.literal.messages)
        messages = [Message("system", self.prompt.section("system"))] if self.prompt.section("system") else []
        for example in self.prompt.examples:
            messages += [Message("user", self._example(example)), Message("assistant", example.reply)]
        return tuple(messages)

    def _example(self, example: WorkedExample) -> str:
        texts = {"question": example.question, "answer_1": example.answer_1, "answer_2": example.answer_2}
        if example.reference:
            texts["reference"] = example.reference
        return self._pair(texts, example.passages)

    def _pair(self, texts: Mapping[str, str], passages: Sequence[str]) -> str:
        derived = self.spec.protection is not Protection.NONE
        mark = mark_of(self.prompt.hash, *texts.values(), *passages) if derived else ""
        blocks = {name: delimit(name.replace("_", " "), text, mark) for name, text in texts.items()}
        blocks["passages"] = passage_blocks(passages, mark)
        return fill(self.prompt.section("pair"), blocks)

    def _passage(self, passage: Passage) -> str:
        return self._safe(passage_text(passage))

    def _safe_passage(self, passage: Passage) -> Passage:
        return replace(passage, title=self._safe(passage.title), text=self._safe(passage.text))

    def _safe(self, text: str) -> str:
        return text if self.spec.protection is Protection.NONE else sanitise(text).text


def sanitised_sides(cleaning: Cleaning, protection: Protection, answer_a: str, answer_b: str) -> Sides:
    """Clean two answers, and sanitise tags and tokens in them."""
    a, b = clean(answer_a, cleaning), clean(answer_b, cleaning)
    if protection is Protection.NONE:
        return Sides(a=a, b=b)
    safe_a, safe_b = sanitise(a), sanitise(b)
    return Sides(a=safe_a.text, b=safe_b.text, flags_a=safe_a.flags, flags_b=safe_b.flags)


def passage_blocks(passages: Sequence[str], mark: str) -> str:
    """Render passages between numbered tags."""
    return "\n\n".join(delimit(f"passage {number}", text, mark) for number, text in enumerate(passages, 1))


def presentations(judge_input: JudgeInput, policy: OrderPolicy) -> tuple[Presentation, ...]:
    """Return a policy's presentations in order.

    `paper`: the system comes first if the question has an even number of words, counted by single spaces as
    in RAG-QA Arena, else second. "The system" is the side that is not the reference; between two systems,
    side a. `random` is a coin seeded by the battle id. `both` starts like `paper`.

    Source: RAG-QA Arena, section 5, and its published code.
    """
    if policy is OrderPolicy.RANDOM:
        even_chance = uniform(judge_input.battle_id, "order") < 0.5  # noqa: PLR2004 - a fair coin
        return (Presentation.A_FIRST if even_chance else Presentation.B_FIRST,)
    even = len(judge_input.question.question.split(" ")) % 2 == 0
    system_is_b = judge_input.reference_side == "a"
    first = Presentation.B_FIRST if even == system_is_b else Presentation.A_FIRST
    return (first, first.other) if policy is OrderPolicy.BOTH else (first,)


def uniform(*seeds: str) -> float:
    """Return a number in 0…1 that depends only on the seeds, equal on every machine."""
    digest = hashlib.sha256("\x1f".join(seeds).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
