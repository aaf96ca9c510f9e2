from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from submissions.check import check_answers, read_answers
from submissions.limits import IntakeLimits
from tests.submissions.conftest import QUESTIONS, Check

QUESTION = "How is rain made, and why?"
DOC = {"id": "1", "question": QUESTION}
ERROR = {"message": "rate limited", "type": "requests"}
BODY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "So it is."}}]}
SENT = {"status_code": 200, "body": BODY}


def _read(tmp_path: Path) -> list[Any]:
    return list(read_answers(tmp_path / "answers", QUESTIONS))


SAID = "So it is."


@pytest.mark.parametrize("resps", [[[SAID]], [SAID], [[SAID, "Again."]], [[[SAID], ["x"]]], [[f" {SAID}\n"]]])
def test_unfiltered_response_is_read(resps: object, check: Check, tmp_path: Path) -> None:
    row = {"doc_id": 0, "doc": DOC, "resps": resps, "filter": "strict-match"}
    rows = [{**row, "filtered_resps": ["[invalid]"]}, {**row, "filtered_resps": ["42"], "filter": "flexible"}]
    result = check(rows)
    assert (result.answers, result.errors) == (1, 0)
    assert [answer.answer for answer in _read(tmp_path)] == ["So it is."]
    assert "1 row is left out: further filters" in " ".join(problem.message for problem in result.problems)


def test_filtered_responses_without_original_are_refused(check: Check) -> None:
    (problem,) = (
        problem
        for problem in check([{"doc_id": 0, "doc": DOC, "filtered_resps": ["42"]}]).problems
        if problem.line
    )
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
    "promptfoo": (
        {
            "vars": {"question": "Who?"},
            "testIdx": 1,
            "promptIdx": 0,
            "error": "API error: 500",
            "success": False,
        },
        "API error: 500",
    ),
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
        "promptIdx": 0,
        "response": {"output": "So it is."},
        "error": "Expected output to contain rain",
        "success": False,
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
