"""Round trips of question sets through BEIR's folders."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from data.files.question_sets.beir import _field, write_beir
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import write_set
from data.models import Importance, Nugget, Passage, Question, QuestionSet, Split
from tests.data.conftest import problems_of, write_lines

TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30
).filter(lambda text: bool(text.strip()))
NAME = st.text("abc-1 2é", min_size=1, max_size=8).filter(lambda text: bool(text.strip()))
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
PASSAGES = st.lists(
    st.builds(Passage, NAME, TEXT, st.just("") | TEXT), max_size=3, unique_by=lambda passage: passage.id
).map(tuple)
IMPORTANCE = st.none() | st.sampled_from(Importance)
NUGGETS = st.lists(st.builds(Nugget, TEXT, IMPORTANCE), max_size=2, unique_by=lambda nugget: nugget.text).map(
    tuple
)


@st.composite
def question_sets(draw: st.DrawFn) -> QuestionSet:
    """Sets with all fields of questions, and texts of any characters."""
    ids = draw(st.lists(NAME, min_size=1, max_size=4, unique_by=lambda name: "_".join(name.split())))
    questions = [
        Question(
            id=name,
            domain=draw(st.sampled_from(("one", "two"))),
            question=draw(TEXT),
            reference=draw(st.none() | TEXT),
            passages=draw(PASSAGES),
            aspects=draw(TEXTS),
            short_answers=draw(TEXTS),
            sub_questions=draw(TEXTS),
            gold_doc_ids=draw(TEXTS),
            citation_numbers=draw(st.sampled_from(((), ((1, 2), ()), ((3,),)))),
            citations=draw(st.sampled_from(((), (("a", "b"), ()), (("c",),)))),
            nuggets=draw(NUGGETS),
            split=draw(st.sampled_from(Split)),
        )
        for name in ids
    ]
    return QuestionSet(
        name="drawn",
        title=draw(TEXT),
        version=draw(st.sampled_from(("1", "2.1", "2026-05"))),
        licence=draw(st.sampled_from(("", "MIT", "CC BY 4.0", "Ours | only"))),
        source=draw(st.just("") | TEXT),
        note=draw(st.just("") | TEXT),
        domains={"one": draw(TEXT), "two": "Two | three"},
        questions=tuple(questions),
    )


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(questions=question_sets())
def test_beir_folder_survives_round_trip(questions: QuestionSet) -> None:
    assume(any(question.passages for question in questions.questions))
    for write in (write_beir, write_set):
        with tempfile.TemporaryDirectory() as folder:
            write(questions, Path(folder))
            assert load_set(Path(folder)).questions == questions


def beir_folder(folder: Path) -> Path:
    """A folder like BEIR's: train and test queries, without our metadata."""
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "title": f"T{n}", "text": f"Text {n}."} for n in range(60)]
    queries: list[dict[str, Any]] = [
        {"_id": name, "text": f"What of {name}?", "metadata": {"0": []}} for name in ("q1", "q2", "q3")
    ]
    write_lines(folder / "corpus.jsonl", *documents)
    write_lines(folder / "queries.jsonl", *queries)
    header = "query-id\tcorpus-id\tscore\n"
    many = "".join(f"q2\td{n}\t1\n" for n in range(60))
    (folder / "qrels" / "test.tsv").write_text(f"{header}q1\td1\t2\nq1\td2\t0\nq1\tgone\t1\n{many}")
    (folder / "qrels" / "train.tsv").write_text(f"{header}q3\td1\t1\n")
    return folder


def test_beir_folder_is_read(tmp_path: Path) -> None:
    loaded = load_set(beir_folder(tmp_path / "scifact"))
    assert [
        (question.id, question.domain, question.split.value) for question in loaded.questions.questions
    ] == [("q1", "questions", "test"), ("q2", "questions", "test")]
    first, second = loaded.questions.questions
    assert (first.gold_doc_ids, [passage.text for passage in first.passages]) == (("d1", "gone"), ["Text 1."])
    assert (len(second.gold_doc_ids), second.passages) == (60, ())
    assert [problem.message for problem in loaded.warnings] == [
        "1 of 3 queries have no judgments in test or dev, and are skipped.",
        "1 documents are not in corpus.jsonl: gone.",
        "1 questions have more than 50 relevant documents, which are not read as passages.",
    ]


def test_train_judgments_are_fallback(tmp_path: Path) -> None:
    folder = beir_folder(tmp_path / "beir")
    (folder / "qrels" / "test.tsv").unlink()
    assert [question.id for question in load_set(folder).questions.questions] == ["q3"]
    shutil.rmtree(folder / "qrels")
    assert len(load_set(folder).questions.questions) == 3


def test_beir_folder_problems_are_listed(tmp_path: Path) -> None:
    folder = beir_folder(tmp_path / "beir")
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"text": "Why?"}\n{"_id": "q1", "text": "Again?"}\n')
    assert [
        (problem.line, problem.code) for problem in problems_of(folder) if problem.severity.value == "error"
    ] == [(0, "duplicate-question"), (4, "missing-field")]


def test_judgments_without_query_give_warning(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "Why?"}\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "So."}\n{"_id": "d2", "text": "No."}\n')
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0.5\nq2\td1\t1\n"
    )
    loaded = load_set(tmp_path)
    assert loaded.questions.questions[0].gold_doc_ids == ("d1",)
    messages = " ".join(problem.message for problem in loaded.warnings)
    assert "1 judged queries are not in queries.jsonl: q2" in messages
    assert "1 judgments have grades between 0 and 1" in messages


PARIS, LYON = (Passage("p1", text) for text in ("In Paris.", "In Lyon."))
ONE_ID = QuestionSet(
    name="drawn",
    title="One id, two texts",
    domains={"one": "One"},
    questions=tuple(
        Question(id=name, domain="one", question=f"{name}?", passages=(passage,), gold_doc_ids=("p1", '"d'))
        for name, passage in (("q1", PARIS), ("q2", LYON))
    ),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@example(questions=ONE_ID)
@given(questions=question_sets())
def test_beir_loader_reads_exported_sets(questions: QuestionSet) -> None:
    assume(any(question.passages for question in questions.questions))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_beir(questions, folder)
        corpus, query_rows = (
            [json.loads(line) for line in (folder / f"{kind}.jsonl").read_text("utf-8").split("\n") if line]
            for kind in ("corpus", "queries")
        )
        queries = {row["_id"]: row["text"] for row in query_rows}
        qrels: dict[str, dict[str, int]] = {}
        for path in (folder / "qrels").glob("*.tsv"):
            with path.open(encoding="utf-8") as file:
                rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL))[1:]
            for query, document, grade in rows:
                qrels.setdefault(query, {})[document] = int(grade)
        if find_spec("beir") and (folder / "qrels" / "test.tsv").is_file():
            loader = importlib.import_module("beir.datasets.data_loader").GenericDataLoader
            _, loaded, judgments = loader(str(folder)).load(split="test")
            assert all(qrels[query] == own for query, own in judgments.items())
            assert all(queries[query] == text for query, text in loaded.items())
    assert qrels.keys() <= queries.keys()
    assert queries == {_field(question.id): question.question for question in questions.questions}
    assert {row["text"] for row in corpus} >= {
        passage.text for question in questions.questions for passage in question.passages
    }
    assert all(isinstance(row.get("title"), str) for row in corpus)
    texts = {row["_id"]: row["text"] for row in corpus}
    for question in questions.questions:
        own = {passage.id: passage.text for passage in question.passages}
        documents = {own.get(name, texts.get(_field(name), _field(name))) for name in question.gold_doc_ids}
        assert {texts.get(name, name) for name in qrels.get(_field(question.id), {})} == documents
