"""Answers in formats of other tools; golden files and their scripts are in tests/golden/answers."""

from __future__ import annotations

import json
import shutil
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from data.errors import FileFormatError, InputError
from data.files.question_sets.beir import write_beir
from data.files.tables.rows import FileFormat
from data.models import QuestionSet, Severity
from submissions.answer_tables import answer_table_of, read_answer_table
from submissions.check import check_answers, read_answers
from submissions.context_files import check_contexts, read_contexts
from submissions.formats.harnesses import read_trec
from submissions.limits import IntakeLimits
from submissions.question_index import QuestionIndex
from tests.submissions.conftest import QUESTIONS, Check, asked_of, codes_of

GOLDEN = Path(__file__).parents[2] / "golden" / "answers"
ANSWER = "Of {} it is known that people make it with care, for their own good reasons."
TOPICS = ("bread", "rain", "bees", "glass", "salt", "tides", "maps", "paper")
EXPECTED: dict[str, tuple[FileFormat, str, int]] = {
    "inspect.eval": (FileFormat.ZIP, "inspect", 8),
    "inspect.json.gz": (FileFormat.JSON, "inspect", 0),
    "ragas.jsonl": (FileFormat.JSONL, "ragas", 8),
    "ragas.csv": (FileFormat.CSV, "ragas", 8),
    "ragas.parquet": (FileFormat.PARQUET, "ragas", 8),
    "datasets.parquet": (FileFormat.PARQUET, "arena", 8),
    "hub": (FileFormat.PARQUET, "arena", 8),
    "saved": (FileFormat.ARROW, "arena", 8),
    "shards": (FileFormat.ARROW, "arena", 8),
    "lm_eval.jsonl": (FileFormat.JSONL, "lm-eval", 8),
    "openai_evals.jsonl": (FileFormat.JSONL, "openai-evals", 0),
    "openai_batch.jsonl": (FileFormat.JSONL, "openai-batch", 0),
    "anthropic_batch.jsonl": (FileFormat.JSONL, "anthropic-batch", 0),
    "mt_bench.jsonl": (FileFormat.JSONL, "mt-bench", 0),
    "promptfoo.json": (FileFormat.JSON, "promptfoo", 0),
    "alpaca_eval.json": (FileFormat.JSON, "arena", 0),
    "ragchecker.json": (FileFormat.JSON, "arena", 8),
    "deepeval.json": (FileFormat.JSON, "arena", 8),
    "helm": (FileFormat.JSON, "helm", 0),
    "helm_display": (FileFormat.JSON, "helm", 0),
}
LEFT_OUT = {
    "inspect.json.gz": "8 rows are left out: further epochs",
    "lm_eval.jsonl": "8 rows are left out: further filters",
    "openai_evals.jsonl": "8 rows are left out: further calls",
    "mt_bench.jsonl": "8 further completions, turns or references are left out.",
    "helm": "8 rows are left out: further trials or perturbations",
    "helm_display": "8 rows are left out: further trials or perturbations",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_files_of_other_tools_have_their_answers(name: str, tmp_path: Path) -> None:
    source = GOLDEN / name
    path = tmp_path / "upload"
    shutil.copytree(source, path) if source.is_dir() else shutil.copy(source, path)
    limits = IntakeLimits(system="careful")
    result = check_answers(path, QUESTIONS, limits=limits)
    assert (result.format, result.layout, result.with_contexts) == EXPECTED[name]
    assert (result.answers, result.errors) == (8, 0)
    left_out = [problem.message for problem in result.problems if problem.code == "left-out"]
    assert [message.split(" of samples")[0] for message in left_out] == [
        text for key, text in LEFT_OUT.items() if key == name
    ]
    answers = {answer.question_id: answer for answer in read_answers(path, QUESTIONS, limits=limits)}
    expected = {q.id: ANSWER.format(topic) for q, topic in zip(QUESTIONS.questions, TOPICS, strict=True)}
    assert {key: answer.answer for key, answer in answers.items()} == expected


def test_answers_of_systems_are_not_mixed(tmp_path: Path) -> None:
    source = GOLDEN / "promptfoo.json"
    result = check_answers(source, QUESTIONS)
    assert [problem.message for problem in result.problems if problem.severity is Severity.ERROR] == [
        "promptfoo.json contains the answers of 2 systems: 'careful', 'org/other-2'."
    ]
    read = read_answer_table(source)
    assert read.sentence.endswith("a row each ('careful', 'org/other-2'); as promptfoo writes it.")
    assert {name: {row.answer for row in rows} for name, rows in read.systems.items()} == {
        "org/other-2": {'{"answer": "Another one."}'},
        "careful": {ANSWER.format(topic) for topic in TOPICS},
    }


MADE = json.loads((GOLDEN / "made.json").read_text(encoding="utf-8"))
"""Answers of each system of a log, in alphabetical order, and the warnings."""


@pytest.mark.parametrize("name", MADE)
def test_logs_have_systems_answers_and_counts(name: str) -> None:
    read = read_answer_table(GOLDEN / name)
    systems = {system: sorted(row.answer or "" for row in rows) for system, rows in read.systems.items()}
    assert [systems, [problem.message for problem in read.problems]] == MADE[name]
    questions = {row.question or row.question_id for rows in read.systems.values() for row in rows}
    assert not max(map(len, systems.values())) % len(questions)


def test_reference_of_harness_row_is_reference_of_question() -> None:
    rows: list[dict[str, object]] = [{"user_input": "Why?", "response": "So it is.", "reference": "So."}]
    vars_ = {"question": "Why?", "expected": "So."}
    rows += [{"vars": vars_, "testIdx": 0, "provider": "m", "response": {"output": "So it is."}}]
    for row in rows:
        read = answer_table_of([row], name="x", system="m")
        assert [(answer.answer, answer.reference) for answer in read.systems["m"]] == [("So it is.", "So.")]


@pytest.mark.parametrize("name", ["hub", "saved", "shards", "helm", "helm_display", "ragas.jsonl"])
@pytest.mark.parametrize("inside", ["", "folder/"])
def test_zipped_folder_is_read_like_folder(name: str, inside: str, tmp_path: Path) -> None:
    source, staged = GOLDEN / name, tmp_path / "staged" / inside
    staged.mkdir(parents=True)
    if source.is_dir():
        shutil.copytree(source, staged, dirs_exist_ok=True)
    else:
        shutil.copy(source, staged)
    packed = shutil.make_archive(str(tmp_path / "upload"), "zip", tmp_path / "staged")
    result = check_answers(Path(packed), QUESTIONS)
    assert (result.answers, result.errors) == (8, 0)
    assert result.content_hash == check_answers(source, QUESTIONS).content_hash


@pytest.mark.parametrize(
    ("name", "layout", "numbers"),
    [
        ("trec_rag24", "trec-rag", ("[2]", "[1, 2]")),
        ("trec_rag25", "trec-rag", ("[2]", "[1, 2]")),
        ("ragtime", "ragtime", ("[2, 1]", "[2]")),
    ],
)
def test_reports_have_citations_and_contexts(name: str, layout: str, numbers: tuple[str, str]) -> None:
    path = GOLDEN / f"{name}.jsonl"
    result = check_answers(path, QUESTIONS)
    assert (result.layout, result.answers, result.errors, result.with_contexts) == (layout, 8, 0, 8)
    first = next(read_answers(path, QUESTIONS))
    assert first.answer == (
        f"Of bread it is known that people make it with care. {numbers[0]} "
        f"They have their own good reasons. {numbers[1]}"
    )
    assert [passage.text for passage in first.contexts] == ["", "A passage about bread."]
    assert layout != "ragtime" or [passage.id for passage in first.contexts] == ["elsewhere", "p0"]


RAGAS = {"user_input": "How is rain made, and why?", "response": "So [1].", "retrieved_contexts": ["p", "q"]}


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        ([0, 1], ["0", "1"]),
        (["0", "d1"], ["0", "d1"]),
        ([10.0, "b"], ["10", "b"]),
        ([None, "c1"], ["c1'", "c1"]),
        (None, ["c1", "c2"]),
    ],
)
def test_ids_next_to_contexts_are_context_ids(
    names: object, ids: list[str], check: Check, tmp_path: Path
) -> None:
    assert check([{**RAGAS, "retrieved_context_ids": names}]).errors == 0
    (answer,) = read_answers(tmp_path / "answers", QUESTIONS)
    assert [passage.id for passage in answer.contexts] == ids
    assert [passage.text for passage in answer.contexts] == ["p", "q"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"retrieved_context_ids": ["a"]}, "There are 2 contexts and 1 retrieved_context_ids."),
        ({"retrieved_context_ids": ["a", "a"]}, "Passages 1 and 2 have the same id, 'a'."),
        ({"retrieved_context_ids": ["a", []]}, "The id of passage 2 is a list"),
    ],
)
def test_mismatched_context_ids_are_error(change: dict[str, Any], said: str, check: Check) -> None:
    (problem,) = (problem for problem in check([{**RAGAS, **change}]).problems if problem.line)
    assert (problem.severity, problem.line) == (Severity.ERROR, 1)
    assert problem.message.startswith(said)


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": RAGAS["user_input"], "answer": "So.", "contexts": ["p"]},
        {"user_input": RAGAS["user_input"], "pred": "So.", "passages": ["p"]},
        {"input": RAGAS["user_input"], "actual_output": "So.", "retrieval_context": ["p"]},
        {"query_id": "1", "query": RAGAS["user_input"], "response": "So.", "retrieved_context": ["p"]},
        {"id": "1", "user_input": "", "response": "So.", "retrieved_contexts": ["p"]},
    ],
)
def test_columns_of_other_tools_are_read_in_any_place(
    row: dict[str, Any], check: Check, tmp_path: Path
) -> None:
    assert check([row]).errors == 0
    (answer,) = read_answers(tmp_path / "answers", QUESTIONS)
    assert (answer.question_id, answer.answer, [passage.text for passage in answer.contexts]) == (
        "1",
        "So.",
        ["p"],
    )


def test_thinking_and_long_texts_of_inspect_are_read(check: Check) -> None:
    content = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "So it is."}]
    row = {
        "id": 1,
        "epoch": 1,
        "input": [{"role": "user", "content": "attachment://abc"}],
        "output": {"choices": [{"message": {"content": content}}]},
        "attachments": {"abc": "Please answer.\nQuestion: How is rain made, and why?"},
    }
    result = check([row])
    assert (result.layout, result.answers, result.errors) == ("inspect", 1, 0)


def test_row_number_of_tool_is_not_id(check: Check) -> None:
    row: dict[str, Any] = {"id": 1, "epoch": 1, "input": "Who?", "output": {"completion": "Nobody at all."}}
    assert codes_of(check([row])) == [(1, "unknown-question")]
    assert check([{**row, "id": "1"}]).answers == 1
    assert codes_of(check([{**row, "id": "1"}])) == [(1, "question-differs")]


def test_prompt_with_several_questions_is_ambiguous(check: Check) -> None:
    prompt = "\n".join(question.question for question in QUESTIONS.questions[:2])
    row = {"id": 7, "epoch": 1, "input": prompt, "output": {"completion": "So."}}
    (problem,) = (problem for problem in check([row]).problems if problem.code == "ambiguous-question")
    assert "contains 2 questions of the set" in problem.message
    assert check([{**row, "metadata": {"question_id": "1"}}]).answers == 1


def test_samples_without_text_report_lines(check: Check) -> None:
    lm_eval = {"doc_id": 0, "doc": {"id": "1"}, "resps": [[[-1.5, False]]], "filtered_resps": [[-1.5, False]]}
    failed = {"id": "2", "epoch": 1, "input": "", "output": {"completion": ""}, "error": {"message": "x"}}
    assert codes_of(check([lm_eval, failed])) == [(1, "wrong-type"), (2, "failed-rows")]


@pytest.mark.parametrize("key", ["samples", "request_states"])
def test_empty_and_truncated_logs_report_error(key: str, check: Check) -> None:
    head = {"version": 2, "eval": {"samples": []}} if key == "samples" else {"adapter_spec": {"x": [1]}}
    assert codes_of(check(json.dumps({**head, "stats": [1]}, indent=2).encode())) == [(1, "empty-file")]
    whole = json.dumps({**head, key: [{"id": 1}]}, indent=1).encode()
    for cut in (whole.rindex(b"}"), whole.rindex(b"]")):
        assert "truncated-file" in [code for _, code in codes_of(check(whole[:cut]))]


@pytest.mark.parametrize("chunk", [1, 2, 5, 64])
def test_log_does_not_depend_on_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch, check: Check) -> None:
    monkeypatch.setattr("data.files.tables.json_files.CHUNK", chunk)
    row = {"id": "1", "epoch": 1, "input": 'a"],[{}\\', "output": {"completion": "So it is."}}
    log = {
        "version": 2,
        "eval": {"samples": [1, {"samples": []}], "a": "samples"},
        "status": "samples",
        "note": ["samples"],
        "samples": [row],
        "reductions": [],
    }
    assert check(json.dumps(log).encode()).answers == 1


def _asked(*ids: str) -> QuestionSet:
    return asked_of({name: f"Question {at} why?" for at, name in enumerate(ids, start=1)})


def test_sample_failed_after_output_has_no_answer() -> None:
    path, questions = GOLDEN / "inspect_failed.json.gz", _asked("1", "2", "3", "4")
    result = check_answers(path, questions)
    assert (result.errors, result.answers) == (0, 3)
    (message,) = (problem.message for problem in result.problems if problem.code == "failed-rows")
    assert "RuntimeError('boom')" in message
    assert {answer.question_id: answer.answer for answer in read_answers(path, questions)} == {
        name: f"Inspect answer {name}." for name in ("1", "2", "4")
    }


def test_ids_in_other_unicode_forms_are_equal(tmp_path: Path) -> None:
    names = ("caf\u00e9-1", "t\u00fcr-2")
    questions, path = _asked(*names), tmp_path / "file"
    other = [unicodedata.normalize("NFD", name) for name in names]
    path.write_text("question_id,answer\n" + "".join(f"{name},A.\n" for name in other), encoding="utf-8")
    assert [answer.question_id for answer in read_answers(path, questions)] == list(names)
    path.write_text("".join(f"{name} Q0 d 1 1 r\n" for name in other), encoding="utf-8")
    assert check_contexts(path, questions).warnings == 0
    assert [answer.question_id for answer in read_contexts(path, questions)] == list(names)


def test_beir_export_leaves_out_unreadable_values(tmp_path: Path) -> None:
    bare = _asked("1")
    with pytest.raises(InputError, match="no passages"):
        write_beir(bare, tmp_path / "bare")


TREC_INDEX = QuestionIndex(asked_of({"2024-1": "When?"}))
TREC_ROW: dict[str, Any] = {
    "run_id": "us",
    "topic_id": "2024-1",
    "references": ["gone", "d3", "d1"],
    "answer": [{"text": "It opened in 1905.", "citations": [2]}],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"references": "d1"}, "not a list of ids"),
        ({"answer": [{"citations": [0]}]}, "Sentence 1 of the answer has no text"),
        ({"answer": [{"text": "A.", "citations": [3]}]}, "Sentence 1 cites 3"),
        ({"answer": [{"text": "A.", "citations": [True]}]}, "Sentence 1 cites True"),
        ({"answer": [{"text": "A.", "citations": "0"}]}, "are not a list"),
    ],
)
def test_malformed_trec_row_reports_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_trec({**TREC_ROW, **change}, TREC_INDEX)


QUESTION = "How is rain made, and why?"
DOC = {"id": "1", "question": QUESTION}
ERROR = {"message": "rate limited", "type": "requests"}
BODY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "So it is."}}]}
SENT = {"status_code": 200, "body": BODY}
SAID = "So it is."


def _read(tmp_path: Path) -> list[Any]:
    return list(read_answers(tmp_path / "answers", QUESTIONS))


@pytest.mark.parametrize("resps", [[[SAID]], [SAID], [[SAID, "Again."]], [[[SAID], ["x"]]], [[f" {SAID}\n"]]])
def test_unfiltered_response_is_read(resps: object, check: Check, tmp_path: Path) -> None:
    row = {"doc_id": 0, "doc": DOC, "resps": resps, "filter": "strict-match"}
    rows = [{**row, "filtered_resps": ["[invalid]"]}, {**row, "filtered_resps": ["42"], "filter": "flexible"}]
    result = check(rows)
    assert (result.answers, result.errors) == (1, 0)
    assert [answer.answer for answer in _read(tmp_path)] == [SAID]
    assert "1 row is left out: further filters" in " ".join(problem.message for problem in result.problems)


def test_filtered_responses_without_original_are_refused(check: Check) -> None:
    row = {"doc_id": 0, "doc": DOC, "filtered_resps": ["42"]}
    (problem,) = (problem for problem in check([row]).problems if problem.line)
    assert (problem.code, problem.line) == ("wrong-type", 1)
    assert problem.message.startswith("The sample has only filtered_resps")


FAILED: dict[str, tuple[dict[str, Any], str]] = {
    "openai": ({"custom_id": "2", "response": None, "error": {"code": "late", "message": "late"}}, "late"),
    "openai status": (
        {"custom_id": "2", "response": {"status_code": 400, "body": {"error": ERROR}}, "error": None},
        "rate limited",
    ),
    "openai only status": ({"custom_id": "2", "response": {"status_code": 500, "body": {}}}, "HTTP 500"),
    "openai filtered": (
        {"custom_id": "2", "response": {"body": {"choices": [{"finish_reason": "content_filter"}]}}},
        "content_filter",
    ),
    "anthropic": (
        {"custom_id": "2", "result": {"type": "errored", "error": {"type": "error", "error": ERROR}}},
        "rate limited",
    ),
    "anthropic expired": ({"custom_id": "2", "result": {"type": "expired"}}, "expired"),
    "promptfoo": ({"vars": {"question": "Who?"}, "testIdx": 1, "error": "Error: 500"}, "Error: 500"),
    "helm": (
        {"instance": {"id": "2"}, "request": {}, "result": {"success": False, "error": "timed out"}},
        "timed out",
    ),
}


@pytest.mark.parametrize(("row", "error"), FAILED.values(), ids=FAILED.keys())
def test_failed_sample_has_no_answer(row: dict[str, Any], error: str, check: Check, tmp_path: Path) -> None:
    good = {"id": "1", "epoch": 1, "input": "", "output": {"completion": "So it is."}}
    result = check([good, row, {**row, "id": "3", "custom_id": "3"}])
    assert (result.answers, result.errors) == (1, 0)
    (problem,) = (problem for problem in result.problems if problem.code == "failed-rows")
    assert problem.line == 2
    assert problem.message == f"2 rows have no answer: '{error}' (2)."
    assert [answer.question_id for answer in _read(tmp_path)] == ["1"]


def test_failed_assertion_keeps_answer(check: Check) -> None:
    row = {
        "vars": {"question": QUESTION},
        "testIdx": 0,
        "response": {"output": "So it is."},
        "error": "No rain",
    }
    assert check([row]).answers == 1


def test_batch_requests_are_refused(check: Check) -> None:
    openai = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}
    anthropic = {"custom_id": "1", "params": {"model": "m", "messages": []}}
    for row in (openai, anthropic):
        (problem,) = (problem for problem in check([row]).problems if problem.line)
        assert problem.message == "These are the requests of a batch, not its results."


def test_responses_api_and_reasoning_are_read(check: Check, tmp_path: Path) -> None:
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "So it is.", "annotations": []}]},
    ]
    thought = {"choices": [{"message": {"content": "So it is.", "reasoning_content": "Hm."}}]}
    rows = [
        {"custom_id": "1", "response": {**SENT, "body": {"output": output}}, "error": None},
        {"custom_id": "2", "response": {**SENT, "body": thought}, "error": None},
    ]
    assert check(rows).errors == 0
    assert [(answer.answer, answer.thinking) for answer in _read(tmp_path)] == [
        ("So it is.", ""),
        ("So it is.", "Hm."),
    ]


def test_answers_of_other_apis_are_read(check: Check, tmp_path: Path) -> None:
    said = [{"text": "So it is."}]
    prompt, refused = (
        {"role": "user", "content": [{"text": QUESTION}]},
        {"content": None, "refusal": "So it is."},
    )
    reply: dict[str, object] = {"candidates": [{"content": {"parts": said}}]}
    for row in (
        {"recordId": "1", "modelInput": {"messages": [prompt]}, "modelOutput": {"content": said}},
        {"modelInput": {"messages": [prompt]}, "modelOutput": {"output": {"message": {"content": said}}}},
        {"key": "1", "response": reply},
        {"request": {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}, "response": reply},
        {"messages": [prompt], "response": {"choices": [{"message": {"content": "So it is."}}]}},
        {"custom_id": "1", "response": {"body": {"choices": [{"message": refused}]}}},
    ):
        assert (check([row]).errors, [answer.answer for answer in _read(tmp_path)]) == (0, ["So it is."])


@pytest.mark.parametrize("packed", [True, False])
def test_oversized_sample_is_skipped(tmp_path: Path, *, packed: bool) -> None:
    path = tmp_path / "log"
    events = {1: ["x" * 3_000, '\\"' * 500_000], 2: [{"[": "}"}] * 300}
    row = {"epoch": 1, "input": "", "output": {"completion": SAID}}
    samples = [{**row, "id": str(at), "events": events.get(at, "x")} for at in range(4)]
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", "{}")
            for number, row in enumerate(samples):
                archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(row))
    else:
        path.write_text(json.dumps({"version": 2, "eval": {}, "samples": samples}), encoding="utf-8")
    result = check_answers(path, QUESTIONS, limits=IntakeLimits(row_bytes=2_000))
    assert (result.answers, result.errors) == (2, 0)
    (problem,) = (problem for problem in result.problems if problem.code == "too-large")
    left_out = [f"samples/{number}_epoch_1.json" if packed else f"Item {number + 1}" for number in (1, 2)]
    assert problem.message == (
        f"2 samples have more than 2,000 bytes, and are left out: {', '.join(left_out)}."
    )
