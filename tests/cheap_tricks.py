"""Cheap tricks: texts that an overlap-based judge might take for good answers.

Some are made of available texts (the question, the passages, answers to other questions), some by damaging an
honest answer; they must lose against what they are compared with.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from data.models import Question
from judges.pairwise.cleaning import NO_ANSWER
from judges.text.sentences import split_sentences

TIMES = 3
FILLER = " \u200b\u2060\u3164" * 100
WORD = re.compile(r"\w+")
FIGURE = re.compile(r"\d+")
FIGURE_OR_YEAR = re.compile(r"\d[\d.,]*\d|\d")
ASKING = re.compile(
    r"^(?:what|which|who|when|where|why|how(?: many| much)?|is|are|was|were|do|does|did|can)\b", re.IGNORECASE
)
NAME = re.compile(r"(?<=[^\W\d_][ ,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*|(?<=[a-z] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Material of tricks.

    Attributes:
        question: The question, with its passages.
        honest: The answer to be damaged.
        wrong: A bad answer to the same question.
        other: An answer to another question.
        foreign: The passages of other questions.
        seed: Seed of the random choices.
    """

    question: Question
    honest: str
    wrong: str = ""
    other: str = ""
    foreign: tuple[str, ...] = ()
    seed: str = ""

    @property
    def bare(self) -> str:
        """The question without its question mark."""
        return self.question.question.strip(" ?")

    @property
    def passages(self) -> str:
        """The texts of all passages, joined."""
        return "\n\n".join(passage.text for passage in self.question.passages if passage.text.strip())


def _shuffled(case: Material) -> str:
    words = case.passages.split()
    random.Random(case.seed).shuffle(words)
    return " ".join(words)


def _reversed_sentences(case: Material) -> str:
    sentences = split_sentences(case.passages)
    return " ".join(f"{' '.join(reversed(sentence.rstrip('.').split()))}." for sentence in sentences)


def _names(case: Material) -> str:
    """Replace each name with its predecessor."""
    names = list(dict.fromkeys(NAME.findall(case.honest)))
    if len(names) < 2:
        return case.honest
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(longest)})\b", lambda name: following[name[0]], case.honest)


Trick = Callable[[Material], str]


def _after(opening: str, text: str) -> str:
    """Put an opening that denies it before every sentence of a text."""
    return " ".join(f"{opening} {sentence[:1].lower()}{sentence[1:]}" for sentence in split_sentences(text))


def _opened(opening: str) -> Trick:
    return lambda case: _after(opening, case.honest)


MADE: Mapping[str, Trick] = MappingProxyType(
    {
        "passages": lambda case: case.passages,
        "passages-of-set": lambda case: "\n\n".join((case.passages, *case.foreign)) if case.foreign else "",
        "refusal-and-passages": lambda case: f"{NO_ANSWER}\n\n{case.passages}" if case.passages else "",
        "wrong-and-passages": lambda case: (
            f"{case.wrong}\n\n{case.passages}" if case.passages and case.wrong else ""
        ),
        "sorted-words": lambda case: " ".join(sorted(set(WORD.findall(case.passages.lower())))),
        "shuffled-words": _shuffled,
        "reversed-words": lambda case: " ".join(reversed(case.passages.split())),
        "reversed-sentences": _reversed_sentences,
        "echo": lambda case: " ".join([case.question.question] * TIMES),
        "sub-questions": lambda case: " ".join(case.question.sub_questions),
        "other-answer": lambda case: case.other,
    }
)
"""Tricks made without an honest answer."""
DAMAGED: Mapping[str, Trick] = MappingProxyType(
    {
        "negated": _opened("It is not true that"),
        "tripled": lambda case: "\n\n".join([case.honest] * TIMES),
        "zero-width": lambda case: "\u200b".join(case.honest) + FILLER,
        "changed-figures": lambda case: FIGURE.sub(
            lambda figure: str(int(figure[0][:15]) * 2 + 7), case.honest
        ),
        "swapped-names": _names,
    }
)
"""Tricks that damage an honest answer."""


def _stated(questions: Sequence[str]) -> str:
    """Rephrase questions as sentences that state nothing."""
    bare = [ASKING.sub("", question).strip(" ?") for question in questions]
    return " ".join(f"This answer explains {text}, and {text} is what it is about." for text in bare if text)


def _figures_and_names(case: Material) -> str:
    """All figures and names of the passages, to match any requested value."""
    listed = [*FIGURE_OR_YEAR.findall(case.passages), *NAME.findall(case.passages)]
    return f"It is {', '.join(dict.fromkeys(listed))}." if listed else ""


def _both_sides(case: Material) -> str:
    sentences = split_sentences(case.honest)
    return " ".join(f"{sentence} {_after('Yet it is not true that', sentence)}" for sentence in sentences)


ON_METRICS: Mapping[str, Trick] = MappingProxyType(
    {
        "hedged": _opened("It might perhaps be that"),
        "hedged-passages": lambda case: _after("Perhaps, one might say,", case.passages),
        "called-false": _opened("It is false that"),
        "doubted": _opened("There is no evidence that"),
        "called-wrong": _opened("It would be wrong to say that"),
        "believed-by-nobody": _opened("Nobody should believe that"),
        "both-sides": _both_sides,
        "stated-question": lambda case: _stated([case.question.question]),
        "stated-needs": lambda case: _stated([*case.question.sub_questions, *case.question.aspects]),
        "needs": lambda case: ". ".join(case.question.aspects) + "." if case.question.aspects else "",
        "figures-and-names": _figures_and_names,
        "every-year": lambda case: f"{case.bare}: {', '.join(map(str, range(1900, 2030)))}.",
        "yes-and-no": lambda _: "Yes. No. Yes and no.",
        "question-and-other": lambda case: f"{case.bare}: {case.other}" if case.other else "",
    }
)
"""Tricks on metrics, which score single answers; battles do not use them."""


def play(family: str, case: Material) -> str:
    """Return the text of a trick; empty if it cannot be made or changes nothing."""
    text = {**MADE, **DAMAGED, **ON_METRICS}[family](case)
    return "" if text.strip() == case.honest.strip() else text


def families() -> Sequence[str]:
    """Return the names of all tricks."""
    return (*MADE, *DAMAGED)
