"""Battle files as the public arenas release them, and what is wrong with single records of them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.errors import FileFormatError, RecordError
from leaderboard.battles import BattleTable, Winner
from leaderboard.formats.reading import read_battles, read_chunks
from leaderboard.formats.rows import Context, LeftOut
from leaderboard.people.votes import read_votes
from leaderboard.rates import win_rates
from leaderboard.ratings import Method, rate

Row = Mapping[str, object]
STRICT = Context(strict=True)
HEADER = "question_id model_a model_b winner"
FAIR = {"question_id": "q", "domain": "d", "model_a": "x", "model_b": "y", "winner": "tie"}


def written(path: Path, rows: Sequence[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(table: BattleTable) -> list[tuple[object, ...]]:
    columns: list[list[object]] = [
        [names[code] for code in codes.tolist()]
        for names, codes in (
            (table.questions, table.question),
            (table.domains, table.domain),
            (table.systems, table.a),
            (table.systems, table.b),
            (("model_a", "model_b", "tie"), table.winner),
        )
        if names != ("",)
    ]
    columns += [column.tolist() for column in (table.score, table.weight) if column is not None]
    return list(zip(*columns, strict=True))


def shuffled(rows: Sequence[Row], seed: int) -> list[Row]:
    return random.Random(seed).sample(list(rows), len(rows))


def soft_rows(count: int = 60) -> list[Row]:
    draw = random.Random(4)
    rows: list[Row] = []
    for number in range(count):
        a, b = draw.sample(["s0", "s1", "s2", "s3"], 2)
        score = draw.random()
        winner = "model_a" if score > 0.5 else "model_b"
        rows.append(
            {"question_id": f"q{number % 9}", "domain": f"d{number % 2}", "model_a": a, "model_b": b}
            | {"winner": winner, "score": score, "weight": draw.random() * 3, "judge": draw.choice("jk")}
        )
    return rows


@pytest.mark.parametrize("named", [True, False])
def test_neither_the_order_of_rows_nor_the_container_changes_a_table(tmp_path: Path, named: bool) -> None:
    rows = [row if named else {k: v for k, v in row.items() if k != "question_id"} for row in soft_rows()]
    first = read_battles(written(tmp_path / "a.jsonl", rows))
    again = read_battles(written(tmp_path / "b.jsonl", shuffled(rows, 1)))
    pq.write_table(pa.Table.from_pylist([dict(row) for row in shuffled(rows, 2)]), tmp_path / "c.parquet")
    header = list(rows[0])
    lines = [",".join(repr(row[k]).strip("'") for k in header) for row in shuffled(rows, 3)]
    (tmp_path / "d.csv").write_text("\n".join([",".join(header), *lines]))
    for other in (again, read_battles(tmp_path / "c.parquet"), read_battles(tmp_path / "d.csv")):
        assert rows_of(other.table) == rows_of(first.table)
        assert (other.table.systems, other.table.domains) == (first.table.systems, first.table.domains)


@pytest.mark.parametrize("method", [Method.BRADLEY_TERRY, Method.ELO])
def test_the_order_of_rows_changes_no_byte_of_ratings_and_rates(method: Method) -> None:
    names = ("question_id", "domain", "model_a", "model_b", "winner", "score", "weight")
    said = set()
    for seed in range(3):
        rows = shuffled(soft_rows(), seed)
        table = BattleTable.from_columns(**{name: [row[name] for row in rows] for name in names})
        rated = rate(table, method=method, bootstrap=20, seed=3).as_json()
        said.add(json.dumps([rated, win_rates(table).as_json()]))
    assert len(said) == 1


def test_online_elo_does_not_depend_on_which_system_is_named_first() -> None:
    rows = [{k: v for k, v in row.items() if k not in {"score", "weight", "judge"}} for row in soft_rows()]
    other = {"model_a": "model_b", "model_b": "model_a"}
    turned = [
        row | {"model_a": row["model_b"], "model_b": row["model_a"], "winner": other[str(row["winner"])]}
        for row in rows
    ]
    results = []
    for version in (rows, turned):
        table = BattleTable.from_columns(**{name: [row[name] for row in version] for name in rows[0]})
        results.append(rate(table, method=Method.ELO, bootstrap=20).as_json())
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"winner": "model_a", "score": 0.1}, ["'model_a'", "0.1", "'model_b'"]),
        ({"winner": "model_b", "score": 0.5}, ["'model_b'", "0.5", "'tie'"]),
        ({"winner": "tie", "score": 0.9}, ["'tie'", "0.9", "'model_a'"]),
        ({"winner": "both_bad", "score": 0.0}, ["'tie (bothbad)'", "'model_b'"]),
        ({"order": "ab", "position": "b"}, ["'ab'", "'b'"]),
        ({"order": "ba", "position": 1}, ["'ba'", "1"]),
    ],
)
def test_two_columns_that_contradict_each_other_are_one_problem(
    tmp_path: Path, change: Row, said: Sequence[str]
) -> None:
    path = written(tmp_path / "b.jsonl", [FAIR, {**FAIR, **change}, FAIR])
    read = read_battles(path)
    assert (len(read.table), read.left_out) == (2, {LeftOut.CONTRADICTION: 1})
    message = str(read.first[LeftOut.CONTRADICTION])
    assert all(part in message for part in ("row 2", *said))
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


def test_a_file_of_contradictions_is_refused(tmp_path: Path) -> None:
    rows = [FAIR | {"winner": "model_a", "score": 0.1}] * 3 + [FAIR]
    with pytest.raises(RecordError, match="1 minus it"):
        read_battles(written(tmp_path / "b.jsonl", rows))


def test_winner_words_are_the_same_in_files_columns_and_votes(tmp_path: Path) -> None:
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
def test_a_winner_is_a_side_or_the_name_of_a_system(words: str, tmp_path: Path) -> None:
    first, second, tie = words.split("," if "," in words else " ")
    rows = [
        {"Question": f"{at}?", "System A": "X", "System B": "y", "Winner": won}
        for at, won in enumerate((first, second, tie))
    ]
    path = written(tmp_path / "b.jsonl", rows)
    assert read_battles(path).table.winner.tolist() == [Winner.A, Winner.B, Winner.TIE]
    assert [vote.share for vote in read_votes(path)] == [1, 0, 0.5]
    unclear = {**FAIR, "model_a": "b", "model_b": "a", "winner": "a"}
    with pytest.raises(RecordError, match="'a' cannot be used"):
        read_battles(written(path, [unclear, unclear]))


def test_comparisons_without_a_verdict_are_left_out_and_counted(tmp_path: Path) -> None:
    row = {"question_id": "q", "system_a": "x", "system_b": "y", "winner": "y", "outcome": "judged"}
    path = written(tmp_path / "b.jsonl", [row, {**row, "winner": "", "outcome": "unreadable"}])
    assert read_battles(path).left_out == {LeftOut.NO_VERDICT: 1}
    with pytest.raises(RecordError, match="'' cannot be used"):
        read_battles(written(path, [{**row, "winner": ""}] * 2))


def test_one_hot_winners_are_read(tmp_path: Path) -> None:
    """LMSYS's 55,000 battles have a column for each verdict, of which one is 1."""
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
def test_tables_of_spreadsheets_are_read(tmp_path: Path, separator: str, header: str) -> None:
    path = tmp_path / "b.csv"
    path.write_text(
        f"{separator.join(header.split())}\n" + separator.join(["1.0", "x", "y", "model_a"]) + "\n"
    )
    assert rows_of(read_battles(path).table) == [("1", "x", "y", "model_a")]


@pytest.mark.parametrize(
    "named", ["csv qid", "excel Query ID", "feather question", "json Prompt", "xz input"]
)
def test_questions_are_read_under_their_names_from_any_table(named: str, tmp_path: Path) -> None:
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


def test_a_whole_number_is_one_id_however_it_is_written(tmp_path: Path) -> None:
    ids = [1, 1.0, "1", "1.0"]
    read = read_battles(written(tmp_path / "b.jsonl", [FAIR | {"question_id": name} for name in ids]))
    assert read.table.questions == ("1",)
    pq.write_table(pa.Table.from_pylist([FAIR | {"question_id": 1.0}]), tmp_path / "b.parquet")
    assert read_battles(tmp_path / "b.parquet").table.questions == ("1",)
    columns = {name: [value] * 2 for name, value in FAIR.items()} | {"question_id": [1.0, 1.0]}
    assert BattleTable.from_columns(**columns).questions == ("1",)


def test_names_are_one_name_in_any_form_of_unicode_and_with_outer_spaces(tmp_path: Path) -> None:
    names = ["caf\u00e9", "cafe\u0301", " caf\u00e9 "]
    rows = [FAIR | {"model_a": name} for name in names]
    assert read_battles(written(tmp_path / "b.jsonl", rows)).table.systems == ("caf\u00e9", "y")
    columns = {name: [row[name] for row in rows] for name in FAIR}
    assert BattleTable.from_columns(**columns).systems == ("caf\u00e9", "y")


@pytest.mark.parametrize("name", ["A\0", "nan", "NaN", "NA", "<NA>", "None", " "])
def test_what_is_no_name_is_no_system(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "b.jsonl", [FAIR, FAIR | {"model_a": name}])
    read = read_battles(path)
    assert (read.table.systems, read.left_out) == (("x", "y"), {LeftOut.FAULTY: 1})
    with pytest.raises(RecordError, match='row 2, column "model_a"'):
        read_battles(path, context=STRICT)
    with pytest.raises(RecordError, match="Row 1, column model_a"):
        BattleTable.from_columns(["q"], ["d"], [name], ["y"], ["tie"])


def test_overall_is_no_domain(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="another id"):
        read_battles(written(tmp_path / "b.jsonl", [FAIR, FAIR | {"domain": "overall"}]))
    with pytest.raises(RecordError, match="another id"):
        BattleTable.from_columns(["q"], ["overall"], ["x"], ["y"], ["tie"])


def test_votes_that_were_not_anonymous_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    rows = [FAIR | {"anony": anonymous} for anonymous in (True, False, True)]
    path = written(tmp_path / "b.jsonl", rows)
    assert read_battles(path).left_out == {LeftOut.NAMED: 1}
    assert len(read_battles(path, context=Context(named=True)).table) == 3


def test_games_that_were_not_played_or_read_are_counted(tmp_path: Path) -> None:
    line = {"question_id": "q", "model": "m", "judge": "j"}
    games = [[{"score": "A>B"}, {"score": ""}], [{"score": "A=B"}], [{"score": "A>>B"}, {"score": "B>A"}]]
    read = read_battles(written(tmp_path / "b.jsonl", [line | {"games": game} for game in games]))
    assert (len(read.table), read.left_out) == (4, {LeftOut.UNREADABLE: 2})


def test_messages_name_the_columns_of_the_file(tmp_path: Path) -> None:
    pair = {"instruction": "i", "generator_1": "base", "generator_2": "m", "preference": 1.2}
    read = read_battles(written(tmp_path / "b.jsonl", [pair, pair | {"generator_2": "base"}]))
    assert read.left_out == {LeftOut.SELF: 1}
    assert 'column "generator_2"' in str(read.first[LeftOut.SELF])
    nearly = {"question_id": "q", "model_a": "x", "model_b": "y", "verdict": "x"}
    with pytest.raises(
        FileFormatError, match="it has the columns 'question_id', 'model_a', 'model_b', 'verdict'"
    ):
        read_battles(written(tmp_path / "c.jsonl", [nearly]))


def test_weights_beyond_the_range_of_numbers_are_refused(tmp_path: Path) -> None:
    read = read_battles(written(tmp_path / "b.jsonl", [FAIR, FAIR | {"weight": 1e308}]))
    assert read.left_out == {LeftOut.FAULTY: 1}
    with pytest.raises(RecordError, match="weight"):
        BattleTable.from_columns(["q"], ["d"], ["x"], ["y"], ["tie"], weight=[1e308])
