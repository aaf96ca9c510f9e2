"""Shapes of tables from tools (`tests/data/made_by`) and of similar tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from data.errors import InputError, InvalidFileError
from data.files.tables.columns import Column
from submissions.answer_tables import AnswerTable, answer_table_of, read_answer_table
from submissions.pooling import pool
from submissions.shapes import UnnamedSystemsError

MADE = Path(__file__).parents[1] / "data/made_by/files"
ASKED = ("What is rain?", "Who wrote Emma?", "Why does bread rise?", "What is snow?")
NO_ANSWERS = (
    ("input|sample_id|log|score|usage", 'ZNFp_@x|logs/a @.eval|C|{"n": @}'),
    ("question|verdict|judge_comment|created_at", "correct|I like number @ a lot.|2026-11-2@ 10:00"),
    ("question|ideal|when", "It is @.|Nov @, 2026"),
    ("prompt|model_a|model_b|text_a|winner", "x|y|One text of @ here.|A"),
    ("question|question_de|user_name|gpt_judge_reasoning", "Warum @?|Ann @ Lee|It is right, @."),
    ("question|faithfulness|verdict_reason|step_back_question", "1|It is in text @.|Tell me of @"),
    ("prompt|chosen|rejected", "One text of @|Other @ text"),
    ("question|A|B|gold|Begründung", "One text of @|Other @ text|B|Weil es @ ist."),
)


def table(header: str, *rows: str, name: str = "t", answers: bool = True) -> AnswerTable:
    """Return rows for each question, with its number for `@`."""
    cells = [(q, *row.replace("@", str(at)).split("|")) for at, q in enumerate(ASKED) for row in rows]
    named = [dict(zip(header.split("|"), row, strict=True)) for row in cells]
    return answer_table_of(named, name=name, system=name, answers=answers)


@pytest.mark.parametrize(
    ("file", "systems", "reference"),
    [
        ("haystack-alpha.csv", ["only"], "answer"),
        ("dspy-beta.csv", ["only"], "example_answer"),
        ("polars-wide.parquet", ["alpha", "beta"], None),
        ("duckdb.parquet", ["only"], None),
        ("datasets.parquet", ["alpha"], None),
        ("azure.json", ["only"], "inputs.ground_truth"),
        ("distilabel.csv", ["good"], None),
        ("openai-evals-api.jsonl", ["good"], None),
        ("evalscope.jsonl", ["good"], None),
        ("phoenix.json", ["only"], "reference_output"),
        ("verifiers.jsonl", ["only"], "answer"),
    ],
)
def test_files_of_tools_have_their_systems(file: str, systems: Sequence[str], reference: str | None) -> None:
    read = read_answer_table(MADE / file, system="only")
    assert (list(read.systems), read.columns.get(Column.REFERENCE)) == (systems, reference)
    assert all(row.answer and row.answer[0] in "PWLSIMT" for rows in read.systems.values() for row in rows)


def test_unnamed_systems_are_refused_with_their_column() -> None:
    with pytest.raises(UnnamedSystemsError, match=r"trulens.csv: 'app_version' seems to name") as refused:
        read_answer_table(MADE / "trulens.csv")
    assert "--system app_version" in refused.value.advice
    named = read_answer_table(MADE / "trulens.csv", called={Column.SYSTEM: "app_version"})
    assert list(named.systems) == ["alpha", "beta"]
    for one, other in ((1, 2), ("0f4720d6fe05b0b7", "1f4720d6fe05b0b7"), ("true", "false"), ("v1", "v2")):
        with pytest.raises(UnnamedSystemsError, match="'arm' seems to name the systems"):
            table("question|arm|answer", f"{one}|It is @.", f"{other}|No.")
    runs = [{"question": q, "run": run, "answer": f"{q} {run}"} for q in ASKED for run in "12"]
    with pytest.raises(UnnamedSystemsError, match="'run' seems to name") as refused:
        answer_table_of(runs, name="t", system="t")
    assert "--repeats all" in refused.value.advice
    assert [*map(len, answer_table_of(runs, name="t", system="t", repeats=True).systems.values())] == [8]
    rows = [{**run, "run": f"model-{run['run']}"} for run in runs]
    with pytest.raises(UnnamedSystemsError, match="'run' seems to name"):
        answer_table_of(rows, name="t", repeats=True)
    with pytest.raises(UnnamedSystemsError, match="'app' and 'version' together"):
        table("question|app|version|answer", *(f"{a}|{v}|{a} {v} @" for a in "xy" for v in ("v1a", "v2a")))


@pytest.mark.parametrize(
    ("header", "rows", "systems"),
    [
        ("query|agent|answer", ["alpha|It is @.", "beta|No."], ["alpha", "beta"]),
        ("prompt|system|model|response", ["Be brief.|m1|It is @.", "Be brief.|m2|No."], ["m1", "m2"]),
        ("query|run|passage_id|generated_answer", ["1|[1]|So it is.", "1|[2]|So it is."], ["t"]),
        ("question|answer|response", ["So it is.|It is @."], ["t"]),
        ("question|alpha|beta", ["I don't know.|It is @."], ["alpha", "beta"]),
        ("inputs.question|outputs.text|feedback.score", ["It is @.|0.5"], ["t"]),
        ("inputs/question|outputs/answer|expectations/expected_response", ["It is @.|So."], ["t"]),
        ("prompt|system|model|text", ["Cite all your sources|m1|It is @."], ["m1"]),
        ("prompt|system|text", ["You are a helpful assistant|It is @."], ["t"]),
        ("prompt|alpha|beta|judge", ["It is @.|No, @.|The first of the two is @."], ["alpha", "beta"]),
        ("query|model_name|answer", ["alpha|It is @.", "beta|No."], ["alpha", "beta"]),
    ],
)
def test_systems_are_named_by_columns(header: str, rows: Sequence[str], systems: Sequence[str]) -> None:
    assert list(table(header, *rows).systems) == systems


def test_question_column_is_not_system() -> None:
    rows = [{"ask": f"Who {at}?", "tell": f"It is {at}."} for at in range(4)]
    for called in ({}, {Column.QUESTION: "ask"}, {Column.ANSWER: "tell"}):
        read = answer_table_of(rows, name="t", system="t", called=called)
        assert (list(read.systems), read.columns[Column.QUESTION], read.columns[Column.ANSWER]) == (
            ["t"],
            "ask",
            "tell",
        )
    assert answer_table_of(rows, name="t", answers=False).columns[Column.QUESTION] == "ask"


@pytest.mark.parametrize(("header", "row"), NO_ANSWERS)
def test_tables_without_answers_are_refused(header: str, row: str) -> None:
    for rows in ((row,), (row, row)):
        with pytest.raises(InvalidFileError) as refused:
            table(header, *rows)
        listed = "No row has an answer; the columns are: " + ", ".join(map(repr, header.split("|")))
        assert listed in refused.value.problems[0].message


def test_question_of_chat_prompt_is_last_message() -> None:
    (rows,) = read_answer_table(MADE / "lm_eval_chat.jsonl").systems.values()
    question = "Q: What is the capital of France?\nA:"
    assert (rows[0].question, rows[0].reference) == (question, "Paris is the capital of France.")


def test_first_of_several_references_is_read() -> None:
    right = {"golden_answers": ["It is a red thing.", "It is red."], "pred": "It is so."}
    read = answer_table_of([{"question": question, **right} for question in ASKED], name="t", system="t")
    assert {(row.reference, row.answer) for row in read.systems["t"]} == {("It is a red thing.", "It is so.")}
    assert read.problems[0].message == "4 further completions, turns or references are left out."


def test_joins_with_disjoint_ids_use_texts() -> None:
    tables = [table("question|id|answer", f"{name}-@|Text @ of {name}.", name=name) for name in "ab"]
    right = [
        {"id": 1, "input": f'{{"question": "{question}", "x": "en"}}', "gold": "x"}
        for question in (ASKED[0], "Else?")
    ]
    met, unmet = (answer_table_of([row], name="r", answers=False) for row in right)
    assert (pool(tables, met).references, pool(tables).lacking) == (1, {})
    with pytest.raises(InputError, match="No reference of r matches"):
        pool(tables, unmet)


@pytest.mark.parametrize("text", ["Error code: 429 - @", "[ERROR] no @", "Traceback (most recent call last)"])
def test_harness_errors_above_a_tenth_are_refused(text: str, tmp_path: Path) -> None:
    failed = table("question|answer", text)
    with pytest.raises(InputError, match="4 of 4 answers of t look like a harness's error"):
        pool([failed])
    assert "4 answers like a harness's error" in pool([failed], keep_errors=True).notes[0]
    assert not pool([table("question|answer", "Error correction @ is a code.")]).notes
    (path := tmp_path / "t.csv").write_text("question,answer\nHow many?,None\nWhy?,So.\n", encoding="utf-8")
    for keep, first in ((False, None), (True, "None")):
        read = read_answer_table(path, keep_na=keep)
        assert (read.systems[""][0].answer, len(read.problems)) == (first, 1 - keep)


def test_answer_next_to_other_answers_may_be_reference() -> None:
    doubtful = table(
        "question|answer|gpt-4o", "Item @ is red and weighs two kg.|It is a red thing of @ kg, I think."
    )
    (problem,) = doubtful.problems
    assert problem.message.startswith(
        "Several columns contain answers, but only one is read: 'answer', 'gpt-4o'."
    )
    clear = table(
        "question|answer|predicted", "Item @ is red and weighs two kg.|It is a red thing of @ kg, I think."
    )
    assert (clear.columns[Column.REFERENCE], clear.problems) == ("answer", ())
