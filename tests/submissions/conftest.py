"""Small question set, answer files, and their check."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.models import Passage, Question, QuestionSet
from submissions.check import CheckReport, check_answers

Check = Callable[..., CheckReport]
Rows = list[dict[str, Any]]
TOPICS = ("bread", "rain", "bees", "glass", "salt", "tides", "maps", "paper")


QUESTIONS = QuestionSet(
    name="small",
    title="Small",
    domains={"life": "Life", "science": "Science"},
    questions=tuple(
        Question(
            id=str(number) if number < 4 else f"sci-{number}",
            domain="life" if number < 4 else "science",
            question=f"How is {topic} made, and why?",
            reference=f"The human-written reference says that {topic} is made slowly, with patience and "
            f"care, by people who know what {topic} needs and who were taught by others before them.",
            passages=(Passage(f"p{number}", f"A passage about {topic}.", topic.title()),),
        )
        for number, topic in enumerate(TOPICS)
    ),
)
GOOD_ROWS: Rows = [
    {
        "question_id": question.id,
        "answer": f"Number {number} of our answers, “quoted”, with a comma, and\na second line.",
        "contexts": [{"id": f"c{number}", "title": "T", "text": f"Context {number}"}],
    }
    for number, question in enumerate(QUESTIONS.questions)
]


def as_jsonl(rows: Sequence[object]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_json(rows: Sequence[object]) -> bytes:
    return json.dumps(list(rows), indent=2).encode()


def as_csv(rows: Sequence[Any]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, fieldnames=list(rows[0]))
    table.writeheader()
    for row in rows:
        table.writerow({**row, "contexts": json.dumps(row.get("contexts"))})
    return text.getvalue().encode()


def as_parquet(rows: Sequence[Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink)
    return sink.getvalue()


def _zipped(encode: Callable[[Sequence[Any]], bytes]) -> Callable[[Sequence[Any]], bytes]:
    return lambda rows: gzip.compress(encode(rows), mtime=0)


PLAIN: dict[str, Callable[[Sequence[Any]], bytes]] = {"jsonl": as_jsonl, "json": as_json, "csv": as_csv}
ENCODERS = PLAIN | {f"{name}.gz": _zipped(encode) for name, encode in PLAIN.items()} | {"parquet": as_parquet}


def asked_of(texts: Mapping[str, str]) -> QuestionSet:
    questions = tuple(Question(id=name, domain="d", question=text) for name, text in texts.items())
    return QuestionSet(name="s", title="S", domains={"d": "D"}, questions=questions)


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(content: bytes | Sequence[object], **options: Any) -> CheckReport:  # noqa: ANN401 - passed on
        path = tmp_path / "answers"
        path.write_bytes(content if isinstance(content, bytes) else as_jsonl(content))
        return check_answers(path, options.pop("questions", QUESTIONS), **options)

    return run


def codes_of(result: CheckReport) -> list[tuple[int, str]]:
    usual = {"unanswered-questions", "no-contexts", "missing-contexts"}
    return [(problem.line, problem.code) for problem in result.problems if problem.code not in usual]
