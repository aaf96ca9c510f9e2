"""The ways into the arena that docs/teams.md describes, done as they are written there."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from arena.container import Arena
from arena.settings import Settings
from tests.forked_arena import shell as run_lines
from tests.served import program

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "teams.md"
DEMO_SET = ROOT / "data" / "sets" / "demo"
Shell = Callable[[str], str]


def commands_under(heading: str) -> list[str]:
    """The commands of a section of docs/teams.md, those that set the address and token left out."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```console\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    return [line for line in lines if not line.startswith("export ")]


@pytest.fixture
def home(tmp_path: Path) -> Settings:
    """A home with the demo set and its systems, not judged."""
    settings = Settings(home=tmp_path / "home", database_url=f"sqlite:///{tmp_path / 'home' / 'a.sqlite'}")
    arena = Arena(settings)
    arena.sets.import_from(DEMO_SET)
    arena.close()
    return settings


@pytest.fixture
def shell(tmp_path: Path) -> Callable[[Mapping[str, str]], Shell]:
    """Run lines as written, with `arena` being this program: `shell(environment)(lines)`."""
    place = tmp_path / "work"
    place.mkdir()

    return lambda variables: partial(run_lines, place=place, path=str(program().parent), **variables)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="NO CURL: the way by curl is not tried")
def test_sample_reaches_a_published_place_as_written(
    home: Settings, serve: Callable[..., str], shell: Callable[[Mapping[str, str]], Shell], tmp_path: Path
) -> None:
    address = serve(home)
    here = {"ARENA_HOME": str(home.home), "ARENA_DATABASE_URL": home.database_url}
    organiser = shell(here)
    made = organiser("\n".join(commands_under("What you need")))
    found = re.search(r"aa_[0-9a-f]+_\S+", made)
    assert found, made
    server = address.removesuffix("/api/v1")
    team = shell({"ARENA_SERVER": server, "ARENA_TOKEN": found[0]})

    told = team("\n".join(commands_under("By curl")))
    assert '"system":"curled"' in told

    judged, shown = commands_under("Results")[:2], commands_under("Results")[2:4]
    organiser("\n".join(judged))
    battles = team("\n".join(shown))
    assert len(json.loads(battles)["battles"]) == 5
    with (tmp_path / "work" / "board.csv").open() as file:
        systems = {row["system"] for row in csv.DictReader(file) if row["rating"]}
    assert "curled" in systems
