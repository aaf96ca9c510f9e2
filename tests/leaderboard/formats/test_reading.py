"""Battle files of every format give the same table, and errors name row and column."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data.errors import ArenaError, FileFormatError, InputError, RecordError
from leaderboard.battles import BattleTable, Winner
from leaderboard.formats.reading import format_of, read_battles, read_chunks
from leaderboard.formats.rows import Context, LeftOut
from leaderboard.people.votes import read_votes
from tests.battle_tables import rows_of

Row = Mapping[str, object]
STRICT = Context(strict=True)
FAIR = {"question_id": "q", "domain": "d", "model_a": "x", "model_b": "y", "winner": "tie"}
GOLDEN = Path(__file__).parents[2] / "golden" / "rag_qa_arena"
NATIVE = [
    {"question_id": "q1", "domain": "fiqa", "model_a": "x", "model_b": "y", "winner": "model_a"},
    {"question_id": "q1", "domain": "fiqa", "model_a": "y", "model_b": "z", "winner": "tie"},
    {"question_id": "q2", "domain": "bioasq", "model_a": "x", "model_b": "z", "winner": "tie (bothbad)"},
]


ALPACA_ROW = {"instruction": "a", "generator_1": "x", "generator_2": "y", "preference": 1}
NATIVE_CSV = pd.DataFrame(NATIVE).to_csv(index=False)


def lines(records: Sequence[Row]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def written(path: Path, rows: Sequence[Row]) -> Path:
    path.write_text(lines(rows))
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("battles.jsonl", lines(NATIVE)),
        ("battles.csv", NATIVE_CSV),
        ("battles.json", json.dumps(NATIVE, indent=1)),
        ("battles.json", json.dumps(NATIVE)),
        ("battles.json", json.dumps({key: [r[key] for r in NATIVE] for key in NATIVE[0]}, indent=2)),
        ("battles.json", json.dumps({key: [r[key] for r in NATIVE] for key in NATIVE[0]})),
        ("blank.jsonl", "\ufeff\n" + lines(NATIVE).replace("\n", "\r\n\n")),
    ],
    ids=["lines", "csv", "array", "array-on-a-line", "columns", "columns-on-a-line", "bom-and-blanks"],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_layouts_give_same_table(tmp_path: Path, name: str, text: str, zipped: bool) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    file = read_battles(path)
    assert (file.format, file.questions_named) == ("native", True)
    assert (file.table.score, file.table.weight) == (None, None)
    assert rows_of(file.table) == [
        ("q1", "fiqa", "x", "y", Winner.A, 1.0, 1.0),
        ("q1", "fiqa", "y", "z", Winner.TIE, 0.5, 1.0),
        ("q2", "bioasq", "x", "z", Winner.TIE, 0.5, 1.0),
    ]


def test_scores_and_counts_are_read_and_zero_counts_reported(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner,score,count\nx,y,model_a,0.75,3\nx,y,tie,,2\nx,y,model_b,0,0\n")
    file = read_battles(path)
    assert file.table.score is not None
    assert file.table.weight is not None
    assert file.table.score[0] == 0.75
    assert np.isnan(file.table.score[1])
    assert file.table.weight.tolist() == [3.0, 2.0]
    assert file.left_out == {LeftOut.ZERO_COUNT: 1}


def test_human_evaluations_are_read() -> None:
    rows = next(read_chunks(GOLDEN / "human_evaluations.json"))
    assert rows.question_id == ["science_0", "writing_1", "science_0"]
    assert (rows.model_a, rows.model_b) == (["LFRQA"] * 3, ["RQA", "RQA", "big-model"])
    assert rows.winner == ["model_a", "tie", "model_b"]
    assert rows.domain == ["science", "writing", "science"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a_x_y": {"majority": "z"}}', "x, y or Tie is expected"),
        ('{"pair": {"majority": "Tie"}}', "QUESTION_MODEL-A_MODEL-B is expected"),
        ('{"a_x_y": {"majority": "x"}, "b": 3}', "not a JSON object"),
        ('{"a_x_y": {"majority": "x"}', "truncated"),
    ],
)
def test_invalid_human_evaluations_report_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "human_evaluations.json"
    path.write_text(text)
    with pytest.raises(ArenaError, match=message):
        list(read_chunks(path))


def test_battles_without_questions_are_independent(tmp_path: Path) -> None:
    path = tmp_path / "all_battles.json"
    path.write_text(json.dumps({"model_a": ["x", "y"], "model_b": ["LFRQA"] * 2, "winner": ["tie"] * 2}))
    file = read_battles(path, "rag-qa-arena")
    assert not file.questions_named
    assert file.table.question.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "battles", "questions"), [("arenakit", 36, 12), ("evalica", 36, 36), ("crowd-kit", 24, 24)]
)
def test_battles_of_other_tools_are_read(name: str, battles: int, questions: int) -> None:
    path = GOLDEN.parent / "battles" / f"{name}.csv"
    table = read_battles(path).table
    assert (len(table), len(table.questions)) == (battles, questions)
    assert np.bincount(table.winner).tolist()[:2] == [18, 6]
    if name != "evalica":
        assert read_battles(path, context=Context(by_voter=True)).table.questions == ("v0", "v1", "v2")


@pytest.mark.parametrize("word", ["-", "Draw", "same", "neither", "C", 0, "both_bad"])
def test_foreign_tie_words_are_ties(tmp_path: Path, word: object) -> None:
    named = FAIR | {"winner": "C", "model_b": "C"}
    rows: list[Row] = [FAIR | {"winner": "a"}, FAIR | {"winner": word}, named]
    table = read_battles(written(tmp_path / "b.jsonl", rows)).table
    assert sorted(table.winner.tolist()) == [Winner.A, Winner.B, Winner.TIE]


@pytest.mark.parametrize("rows", [[FAIR | {"winner": "maybe"}], [{**ALPACA_ROW, "preference": 3}]])
def test_repeated_unknown_winner_words_are_refused(tmp_path: Path, rows: list[Row]) -> None:
    fair: list[Row] = [FAIR if "winner" in rows[0] else ALPACA_ROW] * 9
    assert len(read_battles(written(tmp_path / "b.jsonl", [*fair, *rows])).table) == 9
    with pytest.raises(RecordError, match=r"2 records have"):
        read_battles(written(tmp_path / "b.jsonl", [*fair, *rows, *rows]))


def test_columns_with_repeated_values_are_question_ids(tmp_path: Path) -> None:
    rows = [
        {"model_a": "x", "model_b": "y", "winner": "a", "uid": f"t{at // 3}", "lang": "en", "at": at}
        for at in range(18)
    ]
    assert read_battles(written(tmp_path / "b.jsonl", rows)).clusters == ("uid",)


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
    base = {"model": "m", "judge": "j", "category": "hard"}
    games = [{"score": "B>>A"}, {"score": "A>B"}]
    unread = [{"score": None}, {"score": "A=B"}]
    path = written(
        tmp_path / "m.jsonl", [base | {"uid": "u1", "games": games}, base | {"uid": "u2", "games": unread}]
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


def test_strict_eval_results_leave_out_unreadable_replies(tmp_path: Path) -> None:
    path = tmp_path / "fiqa_org-m_eval_by_gpt-4-0125-preview.json"
    path.write_text(json.dumps(EVAL))
    # The published script reads every reply.
    compatible = next(read_chunks(path, "rag-qa-arena-eval-compat"))
    assert compatible.winner == ["model_a", "model_b", "tie", "model_b"]
    assert not compatible.left_out
    rows = next(read_chunks(tmp_path))
    assert rows.winner == ["model_a", "model_b"]
    assert rows.model_a == ["org-m", "LFRQA"]
    assert rows.domain == ["fiqa"] * 2
    assert rows.judge == ["gpt-4-0125-preview"] * 2
    assert rows.left_out == {LeftOut.UNREADABLE: 2}


BAD_ROWS = [
    ("winner", "model_c", "row 2, column \"winner\": 'model_c' is invalid"),
    ("winner", None, 'row 2, column "winner": nothing is invalid'),
    ("winner", 1, 'row 2, column "winner": 1 is invalid'),
    ("model_b", "x", "row 2, column \"model_b\": 'x' is on both sides"),
    ("model_a", "", 'row 2, column "model_a"'),
    ("model_a", ["x"], 'row 2, column "model_a"'),
    ("question_id", None, 'row 2, column "question_id"'),
    ("question_id", 1.5, 'row 2, column "question_id"'),
    ("weight", -1, 'row 2, column "weight": -1 is invalid; a count cannot be negative'),
    ("weight", float("nan"), 'row 2, column "weight": nan is invalid'),
    ("weight", 1e308, 'row 2, column "weight"'),
    ("score", 1.2, 'row 2, column "score": 1.2 is invalid'),
    ("score", "high", "row 2, column \"score\": 'high' is invalid"),
    ("score", True, 'row 2, column "score"'),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_ROWS)
def test_invalid_cell_error_names_row_and_column(
    tmp_path: Path, column: str, value: object, message: str
) -> None:
    path = written(tmp_path / "battles.jsonl", [FAIR, FAIR | {column: value}, FAIR])
    with pytest.raises(RecordError, match=r"battles\.jsonl") as caught:
        read_battles(path, context=STRICT)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("b.jsonl", lines([*NATIVE, {"model_a": "x", "model_b": "y"}]), 'row 4, column "winner"'),
        (
            "b.jsonl",
            lines([NATIVE[0], {"model_a": "x", "model_b": "y", "winner": "tie"}]),
            'row 2, column "question_id": the column is missing',
        ),
        ("b.jsonl", lines([*NATIVE, ALPACA[0]]), "looks like alpaca-eval, not native"),
        ("b.jsonl", lines(NATIVE) + "x,y,model_a\n", "row 4 is not a JSON object"),
        ("b.jsonl", lines(NATIVE) + "\n7\n", "row 4 (line 5) is not a JSON object but int"),
        ("b.jsonl", lines(NATIVE)[:-9], "row 3 is not a JSON object: it is truncated"),
        ("b.json", json.dumps(NATIVE)[:-9], "b.json, line 1: the JSON is invalid or truncated here"),
        ("b.json", json.dumps([*NATIVE, 7]), "row 4 is not a JSON object but int"),
        ("b.json", json.dumps({"model_a": ["x", "y"], "model_b": ["z"]}), "column 'model_b' ends at row 1"),
        (
            "b.csv",
            "model_a,model_b,winner\nx,y\n",
            "b.csv, line 2: The row has 2 cells, but the header has 3",
        ),
        ("b.csv", "model_a,model_b,model_a\nx,y,z\n", "A column appears twice: 'model_a'"),
        ("b.csv", NATIVE_CSV + lines([{"a": 1}]), "b.csv, line 5: The row has 1 cells"),
        ("b.csv", "left,right,verdict\nx,y,1\n", "its columns are 'model_a', 'model_b', 'verdict'"),
        ("b.csv", "model_a,model_b\nx,y\n", 'row 1 (line 2), column "winner": the column is missing'),
        ("b.csv", "model_a,model_b,winner\n", "has no battles"),
        ("b.jsonl", "", "is empty"),
        ("b.json", json.dumps(ALPACA[3:4]), "has no battles (1 no preference)"),
    ],
)
def test_malformed_file_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        read_battles(path, context=STRICT)
    assert message in str(caught.value)


def test_missing_damaged_or_mis_encoded_file_is_refused(tmp_path: Path) -> None:
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
    with pytest.raises(FileFormatError, match="has no battle files"):
        read_battles(empty)


def test_wrong_format_error_names_missing_column(tmp_path: Path) -> None:
    path = written(tmp_path / "b.jsonl", NATIVE)
    with pytest.raises(FileFormatError, match=r'row 1, column "generator_1".*looks like native'):
        read_battles(path, "alpaca-eval")
    assert format_of(path) == "native"


def test_rows_are_numbered_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("model_a,model_b,winner\n" + "x,y,tie\n" * 9000 + "x,y,maybe\n")
    with pytest.raises(RecordError, match=r"row 9001 \(line 9002\), column \"winner\": 'maybe'"):
        read_battles(path, context=STRICT)
    file = read_battles(path)
    assert (len(file.table), file.left_out) == (9000, {LeftOut.FAULTY: 1})
    assert "row 9001 (line 9002)" in str(file.first[LeftOut.FAULTY])


HEADER = "question_id model_a model_b winner"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"winner": "model_a", "score": 0.1}, ["'model_a'", "0.1", "'model_b'"]),
        ({"winner": "model_b", "score": 0.5}, ["'model_b'", "0.5", "'tie'"]),
        ({"winner": "tie", "score": 0.9}, ["'tie'", "0.9", "'model_a'"]),
        ({"winner": "both_bad", "score": 0.0}, ["'tie (bothbad)'", "'model_b'"]),
        ({"order": "ab", "position": "b"}, ["'ab'", "'b'"]),
        ({"order": "ba", "position": 1}, ["'ba'", "1"]),
    ],
)
def test_contradicting_columns_are_reported_once(tmp_path: Path, change: Row, words: Sequence[str]) -> None:
    path = written(tmp_path / "b.jsonl", [FAIR, {**FAIR, **change}, FAIR])
    read = read_battles(path)
    assert (len(read.table), read.left_out) == (2, {LeftOut.CONTRADICTION: 1})
    message = str(read.first[LeftOut.CONTRADICTION])
    assert all(word in message for word in ("row 2", *words))
    with pytest.raises(RecordError, match="row 2"):
        read_battles(path, context=STRICT)


def test_columns_and_votes_refuse_scores_that_contradict_winners(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"Row 2, column winner: .* `model_b`, which the score 0\.8"):
        BattleTable.from_columns(
            ["q", "q"], ["d", "d"], ["x", "x"], ["y", "y"], ["model_a", "model_b"], [0.8, 0.8]
        )
    path = written(tmp_path / "v.jsonl", [FAIR, FAIR | {"winner": "model_a", "score": 0.2}])
    with pytest.raises(RecordError, match=r"line 2, column \"winner\".*'model_a'.*0\.2.*'model_b'"):
        read_votes(path)


def test_contradictory_file_is_refused(tmp_path: Path) -> None:
    rows = [FAIR | {"winner": "model_a", "score": 0.1}] * 3 + [FAIR]
    with pytest.raises(RecordError, match="1 minus it"):
        read_battles(written(tmp_path / "b.jsonl", rows))


def test_winner_words_agree_in_files_columns_and_votes(tmp_path: Path) -> None:
    words = ["both_bad", "tie (bothbad)", "tie (inconsistent)", "tie"]
    rows = [FAIR | {"winner": word} for word in words]
    path = written(tmp_path / "b.jsonl", rows)
    assert set(read_battles(path).table.winner.tolist()) == {Winner.TIE}
    columns = {name: [row[name] for row in rows] for name in FAIR}
    assert set(BattleTable.from_columns(**columns).winner.tolist()) == {Winner.TIE}
    assert {vote.share for vote in read_votes(path)} == {0.5}


@pytest.mark.parametrize(
    "words", ["A B Tie", "a b both_bad", "X y tie", "left right TIE", "Model a,Model B,tie"]
)
def test_winner_is_side_or_system(words: str, tmp_path: Path) -> None:
    first, second, tie = words.split("," if "," in words else " ")
    rows = [
        {"Question": f"{at}?", "System A": "X", "System B": "y", "Winner": won}
        for at, won in enumerate((first, second, tie))
    ]
    path = written(tmp_path / "b.jsonl", rows)
    assert read_battles(path).table.winner.tolist() == [Winner.A, Winner.B, Winner.TIE]
    assert [vote.share for vote in read_votes(path)] == [1, 0, 0.5]
    unclear = {**FAIR, "model_a": "b", "model_b": "a", "winner": "a"}
    with pytest.raises(RecordError, match="'a' is invalid"):
        read_battles(written(path, [unclear, unclear]))


def test_battles_without_verdict_are_left_out_and_counted(tmp_path: Path) -> None:
    row = {"question_id": "q", "system_a": "x", "system_b": "y", "winner": "y", "outcome": "judged"}
    path = written(tmp_path / "b.jsonl", [row, {**row, "winner": "", "outcome": "unreadable"}])
    assert read_battles(path).left_out == {LeftOut.NO_VERDICT: 1}
    with pytest.raises(RecordError, match="'' is invalid"):
        read_battles(written(path, [{**row, "winner": ""}] * 2))


def test_one_hot_winners_are_read(tmp_path: Path) -> None:
    marks = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0)]
    names = ("winner_model_a", "winner_model_b", "winner_tie")
    rows = [
        {"id": at, "model_a": "x", "model_b": "y", "prompt": "p"} | dict(zip(names, mark, strict=True))
        for at, mark in enumerate(marks)
    ]
    read = read_battles(written(tmp_path / "b.jsonl", rows))
    assert read.format == "lmsys-one-hot"
    assert read.table.winner.tolist() == [Winner.A, Winner.B, Winner.TIE]
    assert "winner_model_a 1, winner_model_b 1" in str(read.first[LeftOut.FAULTY])


def test_both_games_of_mt_bench_pairs_are_read(tmp_path: Path) -> None:
    row = {"question_id": 81, "model_1": "x", "model_2": "y", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    path = written(
        tmp_path / "mt.jsonl",
        [
            row | {"g1_winner": "model_1", "g2_winner": "tie"},
            row | {"g1_winner": "model_2", "g2_winner": "error"},
        ],
    )
    (rows,) = read_chunks(path)
    assert rows.winner == ["model_a", "tie", "model_b"]
    assert rows.order == ["ab", "ba", "ab"]
    assert rows.judge == ["gpt-4, pair-v2"] * 3
    assert rows.left_out == {LeftOut.UNREADABLE: 1}


@pytest.mark.parametrize("separator", [";", "\t", ","])
@pytest.mark.parametrize("header", [HEADER, HEADER.title()])
def test_spreadsheet_tables_are_read(tmp_path: Path, separator: str, header: str) -> None:
    path = tmp_path / "b.csv"
    path.write_text(
        f"{separator.join(header.split())}\n" + separator.join(["1.0", "x", "y", "model_a"]) + "\n"
    )
    assert rows_of(read_battles(path).table) == [("1", "", "x", "y", Winner.A, 1.0, 1.0)]


@pytest.mark.parametrize(
    "named", ["csv qid", "excel Query ID", "feather question", "json Prompt", "xz input"]
)
def test_question_columns_are_detected_in_any_table(named: str, tmp_path: Path) -> None:
    form, name = named.split(" ", 1)
    rows = [{**FAIR, "question_id": f"q{number % 7}", "id": number} for number in range(28)]
    plain = read_battles(written(tmp_path / "plain.jsonl", rows))
    file = tmp_path / f"theirs.{form.replace('excel', 'xlsx')}"
    frame = pd.DataFrame(rows).rename(columns={"question_id": name})
    getattr(frame, f"to_{'csv' if form == 'xz' else form}")(file)
    read = read_battles(file)
    assert (read.questions_named, read.table.questions) == (True, plain.table.questions)
    assert rows_of(read.table) == rows_of(plain.table)
    lists = written(tmp_path / "l", [{"prompt": ["a"], "model_a": "x", "model_b": "y", "winner": "tie"}])
    assert not read_battles(lists).questions_named


def test_integer_ids_are_normalised(tmp_path: Path) -> None:
    ids = [1, 1.0, "1", "1.0"]
    read = read_battles(written(tmp_path / "b.jsonl", [FAIR | {"question_id": name} for name in ids]))
    assert read.table.questions == ("1",)
    pq.write_table(pa.Table.from_pylist([FAIR | {"question_id": 1.0}]), tmp_path / "b.parquet")
    assert read_battles(tmp_path / "b.parquet").table.questions == ("1",)
    columns = {name: [value] * 2 for name, value in FAIR.items()} | {"question_id": [1.0, 1.0]}
    assert BattleTable.from_columns(**columns).questions == ("1",)


def test_names_are_normalised(tmp_path: Path) -> None:
    names = ["caf\u00e9", "cafe\u0301", " caf\u00e9 "]
    rows = [FAIR | {"model_a": name} for name in names]
    assert read_battles(written(tmp_path / "b.jsonl", rows)).table.systems == ("caf\u00e9", "y")
    columns = {name: [row[name] for row in rows] for name in FAIR}
    assert BattleTable.from_columns(**columns).systems == ("caf\u00e9", "y")


@pytest.mark.parametrize("name", ["nan", "NaN", "NA", "<NA>", "None", " "])
def test_invalid_names_are_refused(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "b.jsonl", [FAIR, FAIR | {"model_a": name}])
    read = read_battles(path)
    assert (read.table.systems, read.left_out) == (("x", "y"), {LeftOut.FAULTY: 1})
    with pytest.raises(RecordError, match='row 2, column "model_a"'):
        read_battles(path, context=STRICT)
    with pytest.raises(RecordError, match="Row 1, column model_a"):
        BattleTable.from_columns(["q"], ["d"], [name], ["y"], ["tie"])


def test_domain_overall_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="another id"):
        read_battles(written(tmp_path / "b.jsonl", [FAIR, FAIR | {"domain": "overall"}]))
    with pytest.raises(RecordError, match="another id"):
        BattleTable.from_columns(["q"], ["overall"], ["x"], ["y"], ["tie"])


def test_votes_that_were_not_anonymous_are_optional(tmp_path: Path) -> None:
    rows = [FAIR | {"anony": anonymous} for anonymous in (True, False, True)]
    path = written(tmp_path / "b.jsonl", rows)
    assert read_battles(path).left_out == {LeftOut.NAMED: 1}
    assert len(read_battles(path, context=Context(named=True)).table) == 3


RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
WHOLE = json.dumps(
    [{"question_id": "q", "model_a": "x", "model_b": "y", "winner": "tie", "score": 0.5}] * 3
).encode()


def problem_of(path: Path, kind: str | None = None) -> str | None:
    try:
        battles = len(read_battles(path, kind).table)
    except InputError as error:
        return error.message
    return None if battles else ""


def fair(problem: str | None) -> bool:
    return problem is None or bool(problem and "\n" not in problem)


@RELAXED
@given(content=st.binary(max_size=200), zipped=st.booleans())
@example(content=b"[", zipped=False)
@example(content=b"{", zipped=False)
@example(content=b'{"model_a": ["x"', zipped=False)
@example(content=b'"model_a,model_b,winner\n', zipped=True)
@example(content=b"\x1f\x8b", zipped=False)
@example(content=b"model_a,model_b,winner\nx\x00,y,tie\n", zipped=False)
@example(content=b"[" * 5000, zipped=False)
@example(content=b'{"a": ' * 5000, zipped=False)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, zipped: bool) -> None:
    path = tmp_path / "battles.json"
    path.write_bytes(gzip.compress(content) if zipped else content)
    assert fair(problem_of(path))


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
def test_truncated_array_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "battles.json"
    path.write_bytes(WHOLE[:length])
    with pytest.raises(InputError):
        read_battles(path)
