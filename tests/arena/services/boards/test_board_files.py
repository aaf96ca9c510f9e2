"""Boards as files of other people's formats."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import mlcroissant as mlc
import pyarrow.parquet as pq
import pytest

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC
from arena.services.rounds.models import RoundRequest
from data.errors import FileFormatError, NotFoundError, RetractedError
from data.records import SystemCard
from leaderboard.vocabulary import BoardForm

SECRET = "only-for-us@example.org"
PACKAGE = "every_eval_ever"


@pytest.fixture
def judged(
    filled: Callable[..., Arena], answers_file: Callable[..., Path], scripted_llm: Callable[..., Any]
) -> Callable[[str], Arena]:
    """Open an arena with a published round `r` of four systems, one with a card, by the judge of a name."""

    def judge(name: str) -> Arena:
        arena = filled(endpoint=scripted_llm().url)
        card = SystemCard(
            model="vendor/model-7b", organisation="A/../Lab é", link="https://x.example", contact=SECRET
        )
        path = answers_file("carded", "Item {n} is {word}.")
        arena.submissions.add(path, "tiny", system="carded.one", card=card)
        arena.rounds.create(RoundRequest(set_name="tiny", judge=name, pairs="all", name="r"))
        arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
        arena.boards.publish("r", report=lambda _line: None)
        return arena

    return judge


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    """The schema that the project Every Eval Ever publishes, out of its own package."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        pytest.skip(
            "NO every-eval-ever: its records are not held against its schema. "
            "`pip install --no-deps --ignore-requires-python every-eval-ever==0.2.3rc1` brings it"
        )
    schema = json.loads((Path(spec.origin).parent / "schemas" / "eval.schema.json").read_text())
    assert schema["version"] == "0.2.2"
    return jsonschema.Draft7Validator(schema)


def _records(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(folder.rglob("*.json")):
        yield path.relative_to(folder), json.loads(path.read_text())


@pytest.mark.long
@pytest.mark.parametrize("judge", ["lexical", "reference", "panel"])
def test_records_of_every_eval_ever_are_valid_and_complete(
    judged: Callable[[str], Arena], tmp_path: Path, validator: jsonschema.Draft7Validator, judge: str
) -> None:
    """Each record is valid by the published schema, whether an embedded judge, an LLM or a panel judged."""
    arena = judged(judge)
    written = arena.board_files.write("r", tmp_path, BoardForm.EVERY_EVAL_EVER)
    records = list(_records(tmp_path))
    assert len(records) == len(written) == 4
    for _, record in records:
        assert [error.message for error in validator.iter_errors(record)] == []


def test_published_figures_are_valid_records_too(
    make_arena: Callable[..., Arena], validator: jsonschema.Draft7Validator, tmp_path: Path
) -> None:
    """A board of printed figures is documentation, not a run, and names its judge and source."""
    arena = make_arena()
    arena.boards.publish_paper()
    arena.board_files.write("rag-qa-arena", tmp_path, BoardForm.EVERY_EVAL_EVER)
    for _, record in _records(tmp_path):
        assert [error.message for error in validator.iter_errors(record)] == []
        assert record["source_metadata"]["source_type"] == "documentation"
        (judge,) = record["evaluation_results"][0]["metric_config"]["llm_scoring"]["judges"]
        assert judge["model_info"]["name"] == "gpt-4-0125-preview"


def test_record_has_figures_with_intervals_judge_and_prompt(
    judged: Callable[[str], Arena], tmp_path: Path
) -> None:
    """Figures are the board's own, with the judge's model, temperature and words; a contact is nowhere."""
    arena = judged("reference")
    arena.board_files.write("r", tmp_path, BoardForm.EVERY_EVAL_EVER)
    place, record = next(
        (path, one) for path, one in _records(tmp_path) if one["model_info"]["name"] == "carded.one"
    )
    assert place.parts[:4] == ("data", "r", "A-..-Lab-é", "carded.one")
    assert UUID(place.stem).version == 4
    assert record["model_info"]["developer"] == "A/../Lab é"
    assert record["model_info"]["additional_details"]["model"] == "vendor/model-7b"
    assert SECRET not in json.dumps(record)
    line = next(
        one for one in arena.boards.get("r").standings["lines"]["overall"] if one["system"] == "carded.one"
    )
    results = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
    rate = results["overall/win_tie_rate"]
    assert rate["score_details"]["score"] == line["rate"]["win_tie_rate"]
    interval = rate["score_details"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (
        line["rate"]["win_tie_lower"],
        line["rate"]["win_tie_upper"],
    )
    scoring = rate["metric_config"]["llm_scoring"]
    spec = arena.judges.spec("reference")
    assert spec.prompt is not None
    assert scoring["input_prompt"] == spec.prompt.text
    assert scoring["judges"][0]["model_info"]["id"] == spec.model
    assert scoring["judges"][0]["temperature"] == spec.temperature
    assert {"d0/win_rate", "d1/win_rate", "d2/win_rate"} <= results.keys()


def test_same_board_gives_the_same_archive(judged: Callable[[str], Arena], tmp_path: Path) -> None:
    """The archive has the tree of files, and equal bytes each time."""
    arena = judged("lexical")
    first = arena.board_files.content("r", BoardForm.EVERY_EVAL_EVER)
    assert first.content == arena.board_files.content("r", BoardForm.EVERY_EVAL_EVER).content
    arena.board_files.write("r", tmp_path / "x.zip", BoardForm.EVERY_EVAL_EVER)
    assert (tmp_path / "x.zip").read_bytes() == first.content
    arena.board_files.write("r", tmp_path / "tree", BoardForm.EVERY_EVAL_EVER)
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        tree = {str(path): record for path, record in _records(tmp_path / "tree")}
        assert {name: json.loads(archive.read(name)) for name in archive.namelist()} == tree


def test_prompt_that_was_changed_since_is_named_by_its_hash(
    judged: Callable[[str], Arena], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record never has the words of another prompt than the one that judged."""
    arena = judged("reference")
    monkeypatch.setattr(
        arena.board_files, "_spec_of", lambda _round: (_ for _ in ()).throw(NotFoundError("gone"))
    )
    content = arena.board_files.content("r", BoardForm.EVERY_EVAL_EVER).content
    prompt_hash = arena.rounds.status("r")[0].judge["prompt"]
    assert len(prompt_hash) == 64
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            assert prompt_hash in archive.read(name).decode()


@pytest.mark.filterwarnings("default")  # the library's own
def test_croissant_describes_standings_and_battles(judged: Callable[[str], Arena], tmp_path: Path) -> None:
    """The reference implementation finds no error, and reads through the metadata what the files hold."""
    arena = judged("lexical")
    written = arena.board_files.write("r", tmp_path / "out", BoardForm.CROISSANT)
    assert {path.name for path in written} == {
        *("standings.csv", "standings.parquet", "battles.jsonl", "croissant.json"),
    }
    dataset = mlc.Dataset(jsonld=tmp_path / "out" / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    with (tmp_path / "out" / "standings.csv").open() as text:
        rows = list(csv.DictReader(text))
    read = list(dataset.records("standings"))
    assert [row["standings/system"].decode() for row in read] == [row["system"] for row in rows]
    assert [row["standings/domain"].decode() for row in read] == [row["domain"] for row in rows]
    battles = (tmp_path / "out" / "battles.jsonl").read_text().splitlines()
    winners = [row["battles/winner"].decode() for row in dataset.records("battles")]
    assert winners == [json.loads(line)["winner"] for line in battles]
    assert pq.read_table(tmp_path / "out" / "standings.parquet").num_rows == len(rows)


def test_what_cannot_be_written_is_said(judged: Callable[[str], Arena], tmp_path: Path) -> None:
    """An ending that names no form, a place that is no folder, a board that is gone or was taken down."""
    arena = judged("lexical")
    with pytest.raises(FileFormatError, match=r"r\.xlsx ends in none of .csv, .json, .parquet"):
        arena.board_files.write("r", tmp_path / "r.xlsx")
    (tmp_path / "taken").write_text("")
    for form in (BoardForm.CROISSANT, BoardForm.EVERY_EVAL_EVER):
        with pytest.raises(FileFormatError, match="taken cannot be written"):
            arena.board_files.write("r", tmp_path / "taken", form)
    with pytest.raises(NotFoundError):
        arena.board_files.content("none", BoardForm.CROISSANT)
    arena.boards.retract("r", "A wrong file.")
    for form in BoardForm:
        with pytest.raises(RetractedError, match="A wrong file"):
            arena.board_files.content("r", form, caller=PUBLIC)
