"""What a metric by an LLM will ask: it is run without the LLM, on stand-ins for its replies.

The steps, prompts and their number are the metric's own; only what the LLM would have said is assumed. A
text is taken to make so many claims a sentence, every claim to be relevant, and a premise to entail a
hypothesis where it has most of its words. Identical requests are asked once, as of an LLM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel

from data.errors import SpecError
from data.records import Passage, Reply
from judges.llm.requests import CallFailure, Request
from judges.llm.tasks import Task, TaskReply, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.llm.token_counting import BYTES_PER_TOKEN, TokenCounter
from judges.text.sentences import split_sentences

T = TypeVar("T", bound=BaseModel)

CLAIMS_PER_SENTENCE = 2
ENTAILED_FROM = 0.6
MEASURED = 100
"""Requests of a task whose tokens are counted; the others are taken to have as many on average."""
WORD = re.compile(r"\w+")
LIST_OF = 5
"""Aspects, questions and the like where the prompt sets no number."""


@dataclass(slots=True, kw_only=True)
class Asked:
    """What a task was asked.

    Attributes:
        requests: How often, identical requests once.
        measured: Of how many the tokens were counted.
        input_tokens: Of these. `output_tokens` likewise, of the stand-ins.
        most_output: The most that one reply may have.
    """

    requests: int = 0
    measured: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most_output: int = 0

    @property
    def tokens(self) -> tuple[float, float]:
        """Input and output tokens of all requests."""
        scale = self.requests / self.measured if self.measured else 0.0
        return self.input_tokens * scale, self.output_tokens * scale


@dataclass(slots=True)
class Rehearsed:
    """What was asked so far, by task."""

    by_task: dict[str, Asked] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """All of them."""
        return sum(asked.requests for asked in self.by_task.values())


class RehearsalRunner(TaskRunner):
    """Runs tasks on stand-ins, and counts.

    Args:
        endpoint: Of the LLM, for its price.
        model: Of the LLM, for its tokenizer.
        claims_per_sentence: What a text is taken to say.
    """

    def __init__(self, *, endpoint: str, model: str, claims_per_sentence: int = CLAIMS_PER_SENTENCE) -> None:
        super().__init__(_NobodyAsked(), endpoint=endpoint, model=model)
        self.asked = Rehearsed()
        self._claims = claims_per_sentence
        self._counter = TokenCounter()
        self._seen: set[object] = set()

    async def run_fully(
        self, task: Task[T], inputs: Mapping[str, Input], *, sample: int = 0
    ) -> TaskReply[T] | CallFailure:
        """Return the stand-in of a task's reply.

        Raises:
            SpecError: There is none for this task.
        """
        value = task.reply.model_validate(self._stand_in(task.name, inputs))
        key = (
            task.name,
            task.prompt,
            sample,
            tuple((name, _frozen(inputs[name])) for name in sorted(inputs)),
        )
        if key not in self._seen:
            self._seen.add(key)
            self._count(task, inputs, value)
        reply = Reply(key="", endpoint=self.endpoint, model=self.model, text="")
        return TaskReply(value=value, weighted=None, reply=reply, prompt_hash="", calls=1)

    def _count(self, task: Task[T], inputs: Mapping[str, Input], value: T) -> None:
        asked = self.asked.by_task.setdefault(task.name, Asked(most_output=task.max_tokens))
        asked.requests += 1
        if asked.measured < MEASURED:
            asked.measured += 1
            asked.input_tokens += self._counter.expected(self.request(task, inputs))
            asked.output_tokens += self._tokens(value.model_dump_json())

    def _tokens(self, text: str) -> int:
        counted = self._counter.text(self.model, text)
        return -(-len(text.encode()) // BYTES_PER_TOKEN) if counted is None else counted

    def _stand_in(self, task: str, inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        if task == "extract_claims":
            return {"claims": [{"text": claim, "kind": "fact"} for claim in self._claims_of(inputs["text"])]}
        if task not in STAND_INS:
            raise SpecError(f"No reply to the task {task} can be foreseen.", advice="Report this.")
        return STAND_INS[task](inputs)

    def _claims_of(self, value: Input) -> list[str]:
        claims = []
        for text in _texts(value):
            for sentence in split_sentences(text):
                words = sentence.split()
                size = max(1, -(-len(words) // self._claims))
                claims += [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
        return claims


class _NobodyAsked:
    """A client that must not be reached."""

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Refuse.

        Raises:
            SpecError: Always.
        """
        raise SpecError(f"A rehearsal asked {request.model}.", advice="Report this.")


def _texts(value: Input) -> list[str]:
    match value:
        case int():
            return []
        case str():
            return [value]
        case Tagged() | Passage():
            return [value.text]
        case _:
            return [text for one in value for text in _texts(one)]


def _ids(value: Input) -> list[str]:
    return [one.id for one in value if isinstance(one, Tagged)] if isinstance(value, Sequence) else []


def _frozen(value: Input) -> object:
    return tuple(value) if isinstance(value, list) else value


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text) if len(word) > LIST_OF - 2}


def _relation(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    (premise,), (hypothesis,) = _texts(inputs["premise"]), _texts(inputs["hypothesis"])
    wanted = _words(hypothesis)
    share = len(wanted & _words(premise)) / len(wanted) if wanted else 0.0
    return {"relation": "entailment" if share >= ENTAILED_FROM else "neutral"}


def _questions(inputs: Mapping[str, Input], count: int) -> Iterator[str]:
    (question,) = _texts(inputs["question"])
    return (f"{number}. {question}" for number in range(1, count + 1))


def _most(inputs: Mapping[str, Input]) -> int:
    most = inputs.get("most", LIST_OF)
    return most if isinstance(most, int) else LIST_OF


def _mined(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    """A question a sentence of the text."""
    return {
        "questions": [f"{sentence}?" for text in _texts(inputs["text"]) for sentence in split_sentences(text)]
    }


def _refined(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    return {"questions": [{"question": text, "relevance": 5} for text in _texts(inputs["mined"])]}


def _answered(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    """A text answers what it was mined from: what shares most of the question's words."""
    words = _words(" ".join(_texts(inputs["text"])))
    answered = []
    for number, question in enumerate(_texts(inputs["questions"]), 1):
        wanted = _words(question)
        if wanted and len(wanted & words) / len(wanted) >= ENTAILED_FROM:
            answered.append({"number": number, "answers": [{"answer": question[:40], "confidence": 5}]})
    return {"answered": answered}


def _coverage(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    sentences = [one for text in _texts(inputs["passages"]) for one in split_sentences(text)]
    found = [{"statement": sentence, "passages": []} for sentence in sentences]
    return {"reasoning": " ".join(sentences[:2]), "covered": found, "uncovered": []}


def _aligned(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    claims = _ids(inputs["claims"])
    return {"covered": [{"aspect": aspect, "claims": claims[:2]} for aspect in _ids(inputs["aspects"])]}


def _first_words(name: str, count: int) -> Callable[[Mapping[str, Input]], Mapping[str, Any]]:
    def stand_in(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        return {"summary": " ".join(" ".join(_texts(inputs[name])).split()[:count])}

    return stand_in


FOUND: Mapping[str, Any] = MappingProxyType({"reasons": "word " * 40, "finding": "undecided"})
STAND_INS: Mapping[str, Callable[[Mapping[str, Input]], Mapping[str, Any]]] = MappingProxyType(
    {
        "revise_claims": lambda inputs: {
            "claims": [
                {"number": number, "claims": [text]}
                for number, text in enumerate(_texts(inputs["claims"]), 1)
            ]
        },
        "rate_relevance": lambda _: {"relevance": 5},
        "classify_relation": _relation,
        "summarize_passage": _first_words("passage", 80),
        "evaluate_coverage": _coverage,
        "mine_questions": _mined,
        "refine_questions": _refined,
        "answer_questions": _answered,
        "compare_answers": lambda _: {"reasoning": "word " * 20, "relation": "neutral"},
        "factuality_factscore": lambda _: {"answer": True},
        "factuality_factverify": lambda _: FOUND,
        "factuality_veriscore": lambda _: FOUND,
        "factuality_direct": lambda _: FOUND,
        "factuality_query": lambda inputs: {"query": " ".join(_texts(inputs["claim"]))},
        "factuality_summary": _first_words("passage", 40),
        "generate_aspects": lambda inputs: {"aspects": list(_questions(inputs, _most(inputs)))},
        "align_aspects": _aligned,
        "generate_sub_questions": lambda inputs: {"sub_questions": list(_questions(inputs, _most(inputs)))},
        "rate_support": lambda _: {"support": "full"},
        "assign_nuggets": lambda inputs: {
            "assigned": [{"nugget": key, "assignment": "support"} for key in _ids(inputs["nuggets"])]
        },
        "rate_answerability": lambda _: {"rating": 3},
    }
)
"""A reply to each task that metrics of answers ask, from its inputs."""
