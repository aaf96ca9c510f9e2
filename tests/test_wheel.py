"""Wheel: one package whose modules do not clash with a user's modules."""

from __future__ import annotations

import csv
import subprocess
import sys
import urllib.request
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from hatch_build import modules_in_strings, rewrite
from tests.arena.conftest import until
from tests.served import serving_by

ROOT = Path(__file__).parents[1]
PACKAGES = frozenset({"arena", "data", "judges", "leaderboard", "submissions"})
OF_A_USER = (
    *("data.py", "arena.py", "submissions.py", "judges/__init__.py"),
    *("leaderboard/__init__.py", "leaderboard/loader.py"),
)
"""Modules that a user may have."""
pytestmark = pytest.mark.xdist_group("wheel")


def test_imports_are_rewritten() -> None:
    """Absolute imports are rewritten; relative ones and texts are unchanged."""
    text = (
        '"""From data import nothing."""\n'
        "import json\n"
        "import data\n"
        "from data.errors import (\n    ArenaError,\n)\n"
        "from datasets import data\n"
        "def later():\n    from  judges import base as judges  # reasons\n    from . import data\n"
    )
    assert rewrite(text, PACKAGES, "module.py") == (
        '"""From data import nothing."""\n'
        "import json\n"
        "from answer_arena import data\n"
        "from answer_arena.data.errors import (\n    ArenaError,\n)\n"
        "from datasets import data\n"
        "def later():\n    from  answer_arena.judges import base as judges  # reasons\n"
        "    from . import data\n"
    )
    with pytest.raises(ValueError, match=r"module\.py:1: write `from PACKAGE import"):
        rewrite("import data.errors", PACKAGES, "module.py")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('import_module("judges.function")', ["judges.function"]),
        ('f"arena.workers.{engine}"', ["arena.workers."]),
        ('place = "arena.cli:main"', ["arena.cli:main"]),
        ('structlog.get_logger("arena.workers.worker")', []),
        ('"arena.sqlite" and "data.html" and import_module(".function", __package__)', []),
    ],
)
def test_module_name_in_string_fails_build(text: str, names: list[str]) -> None:
    """Names that cannot be imported below the package are refused; file and log names are allowed."""
    assert list(modules_in_strings(text, PACKAGES, ROOT)) == names


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("answer_arena-*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of a fresh environment with the wheel, which shares the other packages."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=True)
    executable = home / "bin" / "python"
    _run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(executable),
        "install",
        "--quiet",
        "--no-deps",
        str(wheel),
    )
    needed = find_spec("pandas")
    assert needed is not None
    assert needed.origin is not None
    (site,) = home.glob("lib/python*/site-packages")
    (site / "needed.pth").write_text(f"{Path(needed.origin).parents[1]}\n", encoding="utf-8")
    return executable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Working folder with modules that clash with the packages, and three answer files."""
    folder = tmp_path_factory.mktemp("work")
    for name in OF_A_USER:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(
            "raise SystemExit('a module of the user was imported')\n", encoding="utf-8"
        )
    for name, count in {"alpha": 5, "beta": 3, "gamma": 1}.items():
        _write(folder / f"{name}.csv", ("prompt", "response"), count)
    _write(folder / "right.csv", ("question", "reference"), 5)
    (folder / "judge.py").write_text(
        "def longer(question, a, b, reference):\n    return 'a' if len(a) > len(b) else 'b'\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.slow
def test_wheel_contains_one_package(wheel: Path) -> None:
    """It has no other top-level module, every file of the checkout's packages, and type annotations."""
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"answer_arena"}
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    ours = {path.relative_to(ROOT).as_posix() for path in files if path.parent.name != "__pycache__"}
    assert {name for name in ours if f"answer_arena/{name}" not in names} == {"arena/py.typed"}
    assert {"answer_arena/py.typed", "answer_arena/arena/site/config.toml"} <= names


@pytest.mark.slow
def test_wheel_ranks_three_files(python: Path, folder: Path, tmp_path: Path) -> None:
    """With the embedded judge, and with a function in a subprocess; the folder's modules are not imported."""
    arena = str(python.with_name("arena"))
    files = ("alpha.csv", "beta.csv", "gamma.csv")
    out = tmp_path / "board"
    for name, judge in (("board", ("--references", "right.csv")), ("other", ("--judge", "judge.py:longer"))):
        out = tmp_path / name
        _run(arena, "rank", *files, *judge, "--yes", "--out", str(out), at=folder)
        with (out / "board.csv").open(encoding="utf-8") as table:
            assert {"alpha", "beta", "gamma"} <= {row["system"] for row in csv.DictReader(table)}
        assert "alpha" in (out / "board.html").read_text(encoding="utf-8")
    types = "import typing, answer_arena as aa; print(typing.get_type_hints(aa.rank)['return'].__name__)"
    assert _run(str(python), "-c", types, at=tmp_path).strip() == "Ranking"
    assert "gamma lost 12 to alpha" in _run(arena, "losses", str(out), "gamma", "alpha", at=folder)
    assert "alpha is better" in _run(arena, "compare", str(out), "alpha", "gamma", at=folder)


@pytest.mark.slow
def test_wheel_judges_serves_and_exports_demo(
    python: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Site, worker, migrations, templates and bundled sets are found in the wheel."""
    arena = str(python.with_name("arena"))
    home = str(tmp_path / "home")
    monkeypatch.setenv("ARENA_HOME", home)
    assert "published: demo" in _run(arena, "demo", "--no-serve", at=folder)
    _run(arena, "leaderboard", "export", "demo", str(tmp_path / "demo.html"), at=folder)
    assert "Demo" in (tmp_path / "demo.html").read_text(encoding="utf-8")
    log = tmp_path / "log"
    with serving_by(log=log, start=lambda _: folder, arena=arena, ARENA_HOME=home) as address:
        until(lambda: "worker.started" in log.read_text(encoding="utf-8"))
        for path, text in (("/healthz", '"boards":3'), ("/about", "<title>About"), ("", "Answer Arena")):
            with urllib.request.urlopen(f"{address}{path}", timeout=60) as answer:  # noqa: S310 - of this test
                assert text in answer.read().decode().replace(": ", ":")


def _write(path: Path, head: tuple[str, str], count: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(head)
        for number in range(12):
            parts = (f"Part{part} of machine {number} turns wheel{part}." for part in range(count))
            rows.writerow((f"How does machine {number} work?", " ".join(parts)))


def _run(*command: str, at: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=at)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.stderr
