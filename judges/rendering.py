"""From a battle to the messages of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from data.records import Passage, Presentation
from judges.base import Contest
from judges.cleaning import clean
from judges.llm.requests import Message, Request
from judges.neutralise import Flag, delimit, mark_of, neutralise
from judges.prompt import Prompt, WorkedExample, fill
from judges.spec import JudgeSpec, Protection


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both answers as the judge gets to see them, cleaned and made harmless, and what was found."""

    a: str
    b: str
    flags_a: tuple[Flag, ...] = ()
    flags_b: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Renderer:
    """Renders requests of one judge; the part that all of them share is made once and comes first."""

    spec: JudgeSpec
    prompt: Prompt

    def sides(self, contest: Contest) -> Sides:
        """Clean both answers and make tags and tokens in them harmless."""
        a = clean(contest.answer_a, self.spec.cleaning)
        b = clean(contest.answer_b, self.spec.cleaning)
        if self.spec.protection is Protection.NONE:
            return Sides(a=a, b=b)
        safe_a, safe_b = neutralise(a), neutralise(b)
        return Sides(a=safe_a.text, b=safe_b.text, flags_a=safe_a.flags, flags_b=safe_b.flags)

    def request(
        self,
        contest: Contest,
        sides: Sides,
        presentation: Presentation,
        *,
        sample: int = 0,
        again: bool = False,
    ) -> Request:
        """Make the request of one presentation.

        Args:
            contest: The battle.
            sides: Its answers, from `sides`.
            presentation: Which one is shown first.
            sample: Number of the vote.
            again: Whether an earlier reply could not be read.
        """
        first, second = (sides.a, sides.b) if presentation is Presentation.A_FIRST else (sides.b, sides.a)
        question = contest.question
        texts = {"question": self._safe(question.question), "answer_1": first, "answer_2": second}
        shown = self._shown
        if "reference" in shown:
            texts["reference"] = self._safe(question.reference or "")
        passages = [self._passage(passage) for passage in question.passages] if "passages" in shown else []
        content = self._pair(texts, passages)
        if again:
            content = f"{content}\n\n{self.prompt.section('again')}".rstrip()
        return Request(
            endpoint=self.spec.endpoint,
            model=self.spec.model,
            messages=(*self.prefix, Message("user", content)),
            sampling=self.spec.sampling,
            sample=sample,
        )

    @cached_property
    def _shown(self) -> frozenset[str]:
        """The placeholders of the prompt's pair."""
        return self.prompt.placeholders("pair")

    @cached_property
    def prefix(self) -> tuple[Message, ...]:
        """The rubric and the worked examples: byte-identical in every request of the judge."""
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

    def _safe(self, text: str) -> str:
        return text if self.spec.protection is Protection.NONE else neutralise(text).text


def passage_text(passage: Passage) -> str:
    """A passage with its title, where it has one, on a line of its own."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def passage_blocks(passages: Sequence[str], mark: str) -> str:
    """Passages between numbered tags."""
    return "\n\n".join(delimit(f"passage {number}", text, mark) for number, text in enumerate(passages, 1))
