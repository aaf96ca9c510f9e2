from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.arena.conftest import Commands

Row = dict[str, object]


def written(path: Path, rows: Sequence[Row]) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def battles(count: int = 120) -> list[Row]:
    """Battles of four systems on 30 questions of two domains, with the lengths of both answers."""
    rng = random.Random(7)
    rows: list[Row] = []
    for _ in range(count):
        one, other = rng.sample(["w", "x", "y", "z"], 2)
        rows.append(
            {
                "question_id": f"q{rng.randrange(30)}",
                "domain": rng.choice(["d1", "d2"]),
                "model_a": one,
                "model_b": other,
                "winner": rng.choice(["model_a", "model_b", "tie"]),
                "a_length": rng.randrange(50, 300),
                "b_length": rng.randrange(50, 300),
            }
        )
    return rows


def votes(rows: Sequence[Row]) -> list[Row]:
    """Votes of five people on some of the battles."""
    rng = random.Random(8)
    kept = ("question_id", "model_a", "model_b")
    return [
        {name: row[name] for name in kept}
        | {"winner": rng.choice(["model_a", "model_b", "tie"]), "annotator": f"p{rng.randrange(5)}"}
        for row in rows[:70]
    ]


def shuffled(rows: Sequence[Row]) -> list[Row]:
    """The same rows in another order."""
    mixed = list(rows)
    random.Random(9).shuffle(mixed)
    return mixed


@pytest.mark.parametrize(
    "words",
    [
        ("rate", "{}", "--method", "style"),
        ("rate", "{}", "--method", "elo", "--bootstrap", "20"),
        ("rate", "{}", "--bootstrap", "50"),
        ("winrates", "{}", "--by", "domain"),
    ],
)
def test_the_order_of_rows_changes_no_byte(run: Commands, tmp_path: Path, words: Sequence[str]) -> None:
    """The same battles in another order, by every command that measures: the same output."""
    rows = battles()
    said = []
    for name, each in (("one", rows), ("other", shuffled(rows))):
        path = str(written(tmp_path / f"{name}.jsonl", each))
        code, out, err = run("battles", *(path if word == "{}" else word for word in words), "--json")
        assert code == 0, err
        said.append(out)
    assert said[0] == said[1]


@pytest.mark.parametrize("command", ["rate", "winrates"])
def test_the_order_of_votes_changes_no_byte(run: Commands, tmp_path: Path, command: str) -> None:
    """Votes of people in another order correct the same way."""
    rows = battles()
    path, said = written(tmp_path / "b.jsonl", rows), []
    for name, each in (("one", votes(rows)), ("other", shuffled(votes(rows)))):
        labels = written(tmp_path / f"votes-{name}.jsonl", each)
        code, out, err = run("battles", command, path, "--people", labels, "--json")
        assert code == 0, err
        said.append(out)
    assert said[0] == said[1]


def test_two_anchors_of_corrected_ratings_are_refused(run: Commands, tmp_path: Path) -> None:
    """Corrected ratings have one anchor."""
    rows = battles()
    path, labels = written(tmp_path / "b.jsonl", rows), written(tmp_path / "votes.jsonl", votes(rows))
    anchors = ("--anchor", "w=1000", "--anchor", "x=1100")
    code, out, err = run("battles", "rate", path, "--people", labels, *anchors)
    assert code != 0
    assert not out
    assert "measured from one anchor" in err


def test_a_domain_called_overall_is_refused(run: Commands, tmp_path: Path) -> None:
    """All domains together are called so: a file of battles and a set with such a domain say it."""
    path = written(tmp_path / "b.jsonl", [row | {"domain": "overall"} for row in battles()])
    code, _, err = run("battles", "winrates", path, "--by", "domain")
    assert code != 0
    assert "a domain needs another id" in err


def test_no_set_has_a_domain_called_overall(run: Commands, set_folder: Path) -> None:
    """A set with such a domain is not imported."""
    for name in ("set.toml", "questions.jsonl"):
        content = (set_folder / name).read_text()
        (set_folder / name).write_text(content.replace("d0 =", "overall =").replace('"d0"', '"overall"'))
    code, out, err = run("sets", "import", set_folder)
    assert code != 0
    assert "The domain 'overall' is reserved" in out + err


def without_questions(row: Row) -> Row:
    """A battle that names no question."""
    return {name: row[name] for name in ("model_a", "model_b", "winner")}


def seen(row: Row) -> Row:
    """A battle whose systems were known by name."""
    return row | {"anony": False}


@pytest.mark.parametrize(
    ("change", "said"),
    [(without_questions, "every battle counts as a question of its own"), (seen, "left out: 10 records")],
)
@pytest.mark.parametrize("command", ["rate", "winrates"])
def test_every_command_has_the_notes_of_the_file(
    run: Commands, tmp_path: Path, command: str, change: Callable[[Row], Row], said: str
) -> None:
    rows = battles()
    changed = [change(row) for row in rows]
    path = written(tmp_path / "b.jsonl", changed if change is without_questions else changed[:10] + rows[10:])
    code, _, err = run("battles", command, path)
    assert code == 0
    assert said in err


def test_a_name_with_a_line_break_keeps_its_row(run: Commands, tmp_path: Path) -> None:
    """A table has a line for each system, whatever stands in its name."""
    renamed = [{name: "w\nv" if value == "w" else value for name, value in row.items()} for row in battles()]
    code, out, _ = run("battles", "rate", written(tmp_path / "b.jsonl", renamed))
    assert code == 0
    assert len(out.strip().splitlines()) == 1 + 4
    assert "w\\nv" in out
