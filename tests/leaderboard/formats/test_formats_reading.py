"""Battle files of every format become the same table, and bad ones are named by row and column."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from data.errors import ArenaError, FileFormatError, RecordError
from leaderboard.battles import Winner
from leaderboard.formats.reading import format_of, read_battles, read_chunks
from leaderboard.formats.rows import Context, LeftOut

GOLDEN = Path(__file__).parents[2] / "golden" / "rag_qa_arena"
NATIVE = [
    {"question_id": "q1", "domain": "fiqa", "model_a": "x", "model_b": "y", "winner": "model_a"},
    {"question_id": "q1", "domain": "fiqa", "model_a": "y", "model_b": "z", "winner": "tie"},
    {"question_id": "q2", "domain": "bioasq", "model_a": "x", "model_b": "z", "winner": "tie (bothbad)"},
]


def lines(records: Sequence[Mapping[str, object]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def table_csv(records: Sequence[Mapping[str, object]]) -> str:
    header = list(records[0])
    rows = [",".join(str(record.get(name, "")) for name in header) for record in records]
    return "\n".join([",".join(header), *rows]) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("battles.jsonl", lines(NATIVE)),
        ("battles.csv", table_csv(NATIVE)),
        ("battles.json", json.dumps(NATIVE, indent=1)),
        ("battles.json", json.dumps(NATIVE)),
        ("battles.json", json.dumps({key: [r[key] for r in NATIVE] for key in NATIVE[0]}, indent=2)),
        ("battles.json", json.dumps({key: [r[key] for r in NATIVE] for key in NATIVE[0]})),
        ("blank.jsonl", "\ufeff\n" + lines(NATIVE).replace("\n", "\r\n\n")),
    ],
    ids=["lines", "csv", "array", "array-on-a-line", "columns", "columns-on-a-line", "bom-and-blanks"],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_layout_gives_the_same_table(tmp_path: Path, name: str, text: str, zipped: bool) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    file = read_battles(path)
    table = file.table
    assert file.format == "native"
    assert table.systems == ("x", "y", "z")
    assert table.questions == ("q1", "q2")
    assert table.domains == ("bioasq", "fiqa")
    assert table.a.tolist() == [0, 1, 0]
    assert table.b.tolist() == [1, 2, 2]
    assert table.winner.tolist() == [Winner.A, Winner.TIE, Winner.TIE]
    assert table.question.tolist() == [0, 0, 1]
    assert table.score is None
    assert table.weight is None
    assert file.questions_named


def test_scores_and_counts_are_read_and_rows_that_count_zero_times_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner,score,count\nx,y,model_a,0.75,3\nx,y,tie,,2\nx,y,model_b,0,0\n")
    file = read_battles(path)
    assert file.table.score is not None
    assert file.table.weight is not None
    assert file.table.score[0] == 0.75
    assert np.isnan(file.table.score[1])
    assert file.table.weight.tolist() == [3.0, 2.0]
    assert file.left_out == {LeftOut.ZERO_COUNT: 1}


def test_human_evaluations_are_battles_of_people() -> None:
    """RAG-QA Arena's `human_evaluations.json` is recognised: a battle a pair, won by most people's choice."""
    rows = next(read_chunks(GOLDEN / "human_evaluations.json"))
    assert rows.question_id == ["science_0", "writing_1", "science_0"]
    assert (rows.model_a, rows.model_b) == (["LFRQA"] * 3, ["RQA", "RQA", "big-model"])
    assert rows.winner == ["model_a", "tie", "model_b"]
    assert rows.domain == ["science", "writing", "science"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a_x_y": {"majority": "z"}}', "x, y or Tie is expected"),
        ('{"pair": {"majority": "Tie"}}', "QUESTION_MODEL-A_MODEL-B is expected"),
        ('{"a_x_y": {"majority": "x"}, "b": 3}', "not a JSON object"),
        ('{"a_x_y": {"majority": "x"}', "cut off"),
    ],
)
def test_human_evaluations_that_cannot_be_read_say_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "human_evaluations.json"
    path.write_text(text)
    with pytest.raises(ArenaError, match=said):
        list(read_chunks(path))


def test_battles_without_questions_are_each_their_own(tmp_path: Path) -> None:
    path = tmp_path / "all_battles.json"
    path.write_text(json.dumps({"model_a": ["x", "y"], "model_b": ["LFRQA"] * 2, "winner": ["tie"] * 2}))
    file = read_battles(path, "rag-qa-arena")
    assert not file.questions_named
    assert file.table.question.tolist() == [0, 1]


ALPACA: list[dict[str, object]] = [
    {"instruction": "a", "generator_1": "base", "generator_2": "m", "preference": 1.75, "dataset": "koala"},
    {"instruction": "b", "generator_1": "base", "generator_2": "m", "preference": 0, "dataset": "koala"},
    {"instruction": "c", "generator_1": "base", "generator_2": "m", "preference": 1.5, "dataset": "oasst"},
    {"instruction": "d", "generator_1": "base", "generator_2": "m", "preference": None, "dataset": "oasst"},
    {"instruction": "e", "generator_1": "base", "generator_2": "m", "preference": 1, "dataset": "oasst"},
]


def test_alpaca_eval_preferences_become_shares(tmp_path: Path) -> None:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(ALPACA))
    file = read_battles(path)
    assert file.format == "alpaca-eval"
    assert file.table.share.tolist() == [0.25, 0.5, 0.5, 1.0]
    assert file.table.winner.tolist() == [Winner.B, Winner.TIE, Winner.TIE, Winner.A]
    assert file.table.questions == ("a", "b", "c", "e")
    assert file.left_out == {LeftOut.NO_PREFERENCE: 1}


def test_arena_hard_games_become_two_battles(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    games = [{"score": "B>>A"}, {"score": "A>B"}]
    unread = [{"score": None}, {"score": "A=B"}]
    path.write_text(
        lines(
            [
                {"uid": "u1", "model": "m", "judge": "j", "category": "hard", "games": games},
                {"uid": "u2", "model": "m", "judge": "j", "category": "hard", "games": unread},
            ]
        )
    )
    rows = next(read_chunks(path, context=Context(baseline="o3")))
    assert rows.model_a == ["m"] * 3
    assert rows.model_b == ["o3"] * 3
    assert rows.winner == ["model_a", "model_a", "tie"]
    assert rows.weight == [3.0, 1.0, 1.0]
    assert rows.order == ["ba", "ab", "ab"]
    assert rows.left_out == {LeftOut.UNREADABLE: 1}


EVAL = [
    {
        "query": "one",
        "order": {"1": "org/m", "2": "LFRQA"},
        "pred": "<thinking>2?</thinking><rating>1</rating>",
    },
    {"query": "two", "order": {"1": "LFRQA", "2": "org/m"}, "pred": "<rating>2</rating>"},
    {"query": "three", "order": {"1": "LFRQA", "2": "org/m"}, "pred": "FAIL TO GENERATE ANS."},
    {"query": "four", "order": {"1": "LFRQA", "2": "org/m"}, "pred": "answer 1 of 2 is better"},
]


def test_eval_results_read_strictly_leave_unreadable_replies_out(tmp_path: Path) -> None:
    path = tmp_path / "fiqa_org-m_eval_by_gpt-4-0125-preview.json"
    path.write_text(json.dumps(EVAL))
    rows = next(read_chunks(tmp_path))
    assert rows.winner == ["model_a", "model_b"]
    assert rows.model_a == ["org-m", "LFRQA"]
    assert rows.domain == ["fiqa"] * 2
    assert rows.judge == ["gpt-4-0125-preview"] * 2
    assert rows.left_out == {LeftOut.UNREADABLE: 2}


def test_eval_results_read_compatibly_follow_the_published_script(tmp_path: Path) -> None:
    path = tmp_path / "fiqa_org-m_eval_by_gpt-4.json"
    path.write_text(json.dumps(EVAL))
    rows = next(read_chunks(path, "rag-qa-arena-eval-compat"))
    assert rows.winner == ["model_a", "model_b", "tie", "model_b"]
    assert not rows.left_out


BAD_ROWS = [
    ("winner", "model_c", "row 2, column \"winner\": 'model_c' cannot be used"),
    ("winner", None, 'row 2, column "winner": nothing cannot be used'),
    ("winner", 1, 'row 2, column "winner": 1 cannot be used'),
    ("model_b", "x", "row 2, column \"model_b\": 'x' battles itself"),
    ("model_a", "", 'row 2, column "model_a"'),
    ("model_a", ["x"], 'row 2, column "model_a"'),
    ("question_id", None, 'row 2, column "question_id"'),
    ("question_id", 1.5, 'row 2, column "question_id"'),
    ("weight", -1, 'row 2, column "weight": -1 cannot be used; a count cannot be negative'),
    ("weight", float("nan"), 'row 2, column "weight": nan cannot be used'),
    ("score", 1.2, 'row 2, column "score": 1.2 cannot be used'),
    ("score", "high", "row 2, column \"score\": 'high' cannot be used"),
    ("score", True, 'row 2, column "score"'),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_ROWS)
def test_a_bad_cell_is_named_by_row_and_column(
    tmp_path: Path, column: str, value: object, message: str
) -> None:
    path = tmp_path / "battles.jsonl"
    good = {"question_id": "q", "domain": "d", "model_a": "x", "model_b": "y", "winner": "tie"}
    path.write_text(lines([good, good | {column: value}, good]))
    with pytest.raises(RecordError, match=r"battles\.jsonl") as caught:
        read_battles(path, context=Context(strict=True))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("b.jsonl", lines([*NATIVE, {"model_a": "x", "model_b": "y"}]), 'row 4, column "winner"'),
        ("b.jsonl", lines([*NATIVE, ALPACA[0]]), "looks like alpaca-eval, not native"),
        ("b.jsonl", lines(NATIVE) + "x,y,model_a\n", "row 4 is not a JSON object"),
        ("b.jsonl", lines(NATIVE) + "\n7\n", "row 4 (line 5) is not a JSON object but int"),
        ("b.jsonl", lines(NATIVE)[:-9], "row 3 is not a JSON object: it is cut off"),
        ("b.json", json.dumps(NATIVE)[:-9], "b.json, line 1: the JSON cannot be read, or is cut off, here"),
        ("b.json", json.dumps([*NATIVE, 7]), "row 4 is not a JSON object but int"),
        ("b.json", json.dumps({"model_a": ["x", "y"], "model_b": ["z"]}), "column 'model_b' ends at row 1"),
        (
            "b.csv",
            "model_a,model_b,winner\nx,y\n",
            "b.csv, line 2: The row has 2 cells where the header has 3",
        ),
        ("b.csv", "model_a,model_b,model_a\nx,y,z\n", "A column stands twice: 'model_a'"),
        ("b.csv", table_csv(NATIVE) + lines([{"a": 1}]), "b.csv, line 5: The row has 1 cells"),
        ("b.csv", "left,right,verdict\nx,y,1\n", "is no battle: it has the columns 'left', 'right'"),
        ("b.csv", "model_a,model_b\nx,y\n", 'row 1 (line 2), column "winner": the column is missing'),
        ("b.csv", "model_a,model_b,winner\n", "holds no battles"),
        ("b.jsonl", "", "is empty"),
        ("b.json", json.dumps(ALPACA[3:4]), "holds no battles (1 no preference)"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        read_battles(path, context=Context(strict=True))
    assert message in str(caught.value)


def test_a_question_id_in_some_rows_only_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(lines([NATIVE[0], {"model_a": "x", "model_b": "y", "winner": "tie"}]))
    with pytest.raises(FileFormatError, match='row 2, column "question_id": the column is missing'):
        read_battles(path)


def test_a_missing_damaged_or_mis_encoded_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="There is no file"):
        read_battles(tmp_path / "absent.jsonl")
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(gzip.compress(lines(NATIVE * 2000).encode())[:-20])
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        read_battles(damaged)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("model_a,model_b,winner\nCafé,y,tie\n".encode("latin-1"))
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read_battles(latin)
    empty = tmp_path / "folder"
    empty.mkdir()
    with pytest.raises(FileFormatError, match="holds no battle files"):
        read_battles(empty)


def test_a_named_format_that_does_not_fit_says_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(lines(NATIVE))
    with pytest.raises(FileFormatError, match=r'row 1, column "generator_1".*looks like native'):
        read_battles(path, "alpaca-eval")
    assert format_of(path) == "native"


def test_rows_are_numbered_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("model_a,model_b,winner\n" + "x,y,tie\n" * 9000 + "x,y,draw\n")
    with pytest.raises(RecordError, match=r"row 9001 \(line 9002\), column \"winner\": 'draw'"):
        read_battles(path, context=Context(strict=True))
    file = read_battles(path)
    assert (len(file.table), file.left_out) == (9000, {LeftOut.FAULTY: 1})
    assert "row 9001 (line 9002)" in str(file.first[LeftOut.FAULTY])
