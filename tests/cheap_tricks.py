"""Cheap tricks: texts that a judge of overlap might take for good answers.

Some are made of what is at hand (the question, the passages, answers to other questions), some by damaging an
honest answer; neither may beat what it is held against.
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
        seed: Of what is drawn.
    """

    question: Question
    honest: str
    wrong: str = ""
    other: str = ""
    foreign: tuple[str, ...] = ()
    seed: str = ""

    @property
    def bare(self) -> str:
        """The question without its mark."""
        return self.question.question.strip(" ?")

    @property
    def passages(self) -> str:
        """The texts of all passages, one after the other."""
        return "\n\n".join(passage.text for passage in self.question.passages if passage.text.strip())


def _shuffled(material: Material) -> str:
    words = material.passages.split()
    random.Random(material.seed).shuffle(words)
    return " ".join(words)


def _reversed_sentences(material: Material) -> str:
    sentences = split_sentences(material.passages)
    return " ".join(f"{' '.join(reversed(sentence.rstrip('.').split()))}." for sentence in sentences)


def _names(material: Material) -> str:
    """Every name in the place of the one before it."""
    names = list(dict.fromkeys(NAME.findall(material.honest)))
    if len(names) < 2:
        return material.honest
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(longest)})\b", lambda name: following[name[0]], material.honest)


Trick = Callable[[Material], str]


def _after(opening: str, text: str) -> str:
    """Every sentence of a text behind an opening that takes it back."""
    return " ".join(f"{opening} {sentence[:1].lower()}{sentence[1:]}" for sentence in split_sentences(text))


def _opened(opening: str) -> Trick:
    return lambda material: _after(opening, material.honest)


MADE: Mapping[str, Trick] = MappingProxyType(
    {
        "passages": lambda material: material.passages,
        "passages-of-set": lambda material: (
            "\n\n".join((material.passages, *material.foreign)) if material.foreign else ""
        ),
        "refusal-and-passages": lambda material: (
            f"{NO_ANSWER}\n\n{material.passages}" if material.passages else ""
        ),
        "wrong-and-passages": lambda material: (
            f"{material.wrong}\n\n{material.passages}" if material.passages and material.wrong else ""
        ),
        "sorted-words": lambda material: " ".join(sorted(set(WORD.findall(material.passages.lower())))),
        "shuffled-words": _shuffled,
        "reversed-words": lambda material: " ".join(reversed(material.passages.split())),
        "reversed-sentences": _reversed_sentences,
        "echo": lambda material: " ".join([material.question.question] * TIMES),
        "sub-questions": lambda material: " ".join(material.question.sub_questions),
        "other-answer": lambda material: material.other,
    }
)
"""Tricks that are not made from an honest answer."""
DAMAGED: Mapping[str, Trick] = MappingProxyType(
    {
        "negated": _opened("It is not true that"),
        "tripled": lambda material: "\n\n".join([material.honest] * TIMES),
        "zero-width": lambda material: "\u200b".join(material.honest) + FILLER,
        "changed-figures": lambda material: FIGURE.sub(
            lambda figure: str(int(figure[0][:15]) * 2 + 7), material.honest
        ),
        "swapped-names": _names,
    }
)
"""Tricks that damage an honest answer."""


def _stated(questions: Sequence[str]) -> str:
    """Questions as sentences that state nothing."""
    bare = [ASKING.sub("", question).strip(" ?") for question in questions]
    return " ".join(f"This answer explains {text}, and {text} is what it is about." for text in bare if text)


def _figures_and_names(material: Material) -> str:
    """Every figure and name of the passages, which has whatever value is asked for."""
    listed = [*FIGURE_OR_YEAR.findall(material.passages), *NAME.findall(material.passages)]
    return f"It is {', '.join(dict.fromkeys(listed))}." if listed else ""


def _both_sides(material: Material) -> str:
    found = split_sentences(material.honest)
    return " ".join(f"{sentence} {_after('Yet it is not true that', sentence)}" for sentence in found)


ON_METRICS: Mapping[str, Trick] = MappingProxyType(
    {
        "hedged": _opened("It might perhaps be that"),
        "hedged-passages": lambda material: _after("Perhaps, one might say,", material.passages),
        "called-false": _opened("It is false that"),
        "doubted": _opened("There is no evidence that"),
        "called-wrong": _opened("It would be wrong to say that"),
        "believed-by-nobody": _opened("Nobody should believe that"),
        "both-sides": _both_sides,
        "stated-question": lambda material: _stated([material.question.question]),
        "stated-needs": lambda material: _stated(
            [*material.question.sub_questions, *material.question.aspects]
        ),
        "needs": lambda material: (
            ". ".join(material.question.aspects) + "." if material.question.aspects else ""
        ),
        "figures-and-names": _figures_and_names,
        "every-year": lambda material: f"{material.bare}: {', '.join(map(str, range(1900, 2030)))}.",
        "yes-and-no": lambda _: "Yes. No. Yes and no.",
        "question-and-other": lambda material: f"{material.bare}: {material.other}" if material.other else "",
    }
)
"""Tricks on metrics, which score an answer alone; they are not planted among battles."""


def play(family: str, material: Material) -> str:
    """The text of a trick; empty where the material does not allow it, or nothing would change."""
    text = {**MADE, **DAMAGED, **ON_METRICS}[family](material)
    return "" if text.strip() == material.honest.strip() else text


def families() -> Sequence[str]:
    """The names of all tricks."""
    return (*MADE, *DAMAGED)
