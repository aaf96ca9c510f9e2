"""Real labels for the embedded relation model: pairs of WikiContradict, marked sentences of QA-Feedback."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.records import MetricItem, Passage
from judges.metrics.relations.model import Pair
from judges.text.sentences import split_sentences

DATA = Path(__file__).parents[1] / "../shared/data"
WRONG = {"Wrong-Grounding", "Unverifiable"}
LEAST_MARKED = 3
"""Characters of a sentence that must be marked for it to count as marked."""


@dataclass(frozen=True)
class LabelledPair:
    """A passage and an answer that it entails or contradicts."""

    question: str
    pair: Pair
    contradicted: bool


@dataclass(frozen=True)
class MarkedAnswer:
    """An answer with what people marked.

    Attributes:
        item: Question, passages and answer.
        sentences: Of the answer.
        wrong: Whether each is marked as wrong or unverifiable.
        missing: The sentences of the passages that the answer lacks, as (passage id, text).
        passages: The sentences of each passage by its id.
    """

    item: MetricItem
    sentences: tuple[str, ...]
    wrong: tuple[bool, ...]
    missing: tuple[tuple[str, str], ...]
    passages: dict[str, tuple[str, ...]]


def wiki_pairs(data: Path) -> list[LabelledPair]:
    """Answers that people found correct for the one passage they saw, with that passage and the other.

    The one entails the answer, the other contradicts it. Questions whose two passages are one text are left
    out, and so is an answer that came twice.
    """
    found: dict[tuple[str, str, int], list[LabelledPair]] = {}
    for row in _rows(data / "wikicontradict" / "dev.jsonl"):
        texts = [str(row[f"context{side}_self_contained"]) for side in (1, 2)]
        for side in (1, 2):
            answer = str(row[f"answer{side}"]).strip()
            if row[f"label{side}"] != "Correct" or texts[0] == texts[1]:
                continue
            question = str(row["question"])
            found[question, answer, side] = [
                LabelledPair(question, Pair(texts[side - 1], answer), contradicted=False),
                LabelledPair(question, Pair(texts[2 - side], answer), contradicted=True),
            ]
    return [pair for pairs in found.values() for pair in pairs]


def marked_answers(data: Path) -> Iterator[MarkedAnswer]:
    """The answers of QA-Feedback's development set, half of it, with what people marked."""
    for row in _rows(data / "qa_feedback" / "spans.jsonl"):
        passages = {
            f"p{number}": (title, tuple(sentence.removeprefix(f"{title}\n\n") for sentence in sentences))
            for number, (title, *sentences) in enumerate(row["passages"], start=1)
        }
        errors = [error for error in row["errors"] if error["error type"] in WRONG]
        sentences, wrong = zip(*_marked(str(row["answer"]), errors), strict=True)
        yield MarkedAnswer(
            item=MetricItem(
                id=str(row["id"]),
                question=str(row["question"]),
                answer=str(row["answer"]),
                passages=tuple(
                    Passage(name, " ".join(texts), title) for name, (title, texts) in passages.items()
                ),
            ),
            sentences=sentences,
            wrong=wrong,
            missing=tuple(_missing(row["missing"], {name: texts for name, (_, texts) in passages.items()})),
            passages={name: texts for name, (_, texts) in passages.items()},
        )


def _marked(answer: str, errors: Iterable[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    at = 0
    spans = [(int(error["start"]), int(error["end"])) for error in errors]
    for sentence in split_sentences(answer):
        start = max(0, answer.find(sentence[:40], at))
        end = at = start + len(sentence)
        yield sentence, any(min(end, last) - max(start, first) >= LEAST_MARKED for first, last in spans)


def _missing(
    marked: Iterable[dict[str, Any]], passages: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    for entry in marked:
        texts = passages.get(f"p{entry.get('passage_id')}", ())
        for number in entry.get("sentence_id") or ():
            # Counted from 1: the title, which each passage begins with, is number 0.
            if 1 <= number <= len(texts):
                yield f"p{entry['passage_id']}", texts[number - 1]


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        raise SystemExit(f"{path} is not there; name the folder of the data.")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
