"""The command line, run as a user runs it."""

from __future__ import annotations

import gc
import json
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

from arena.cli import main
from arena.cli.commands import PARTS, command
from arena.site.boards.snapshot_reader import read_board
from data.models import Board

ROOT = Path(__file__).parents[3]
TABLES = ROOT.parent / "shared" / "data" / "rag_qa_arena_tables"
Cli = Callable[..., "Ended"]


@dataclass(frozen=True)
class Ended:
    """Result of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def cli(
    empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Cli]:
    """Run `arena …` in this process, with its state in a temporary folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("ARENA_DATABASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: object, **variables: str) -> Ended:
        for name, value in {"ARENA_HOME": str(empty_home), **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["arena", *map(str, words)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    yield run
    gc.collect()


def _json(result: Ended) -> Any:  # noqa: ANN401 - commands print any JSON
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_team_goes_from_file_to_published_place(
    cli: Cli, set_folder: Path, answers_file: Callable[..., Path]
) -> None:
    """Import, check, add, plan, run, status, publish, show, export and verify work one after another."""
    assert _json(cli("sets", "import", set_folder, "--json"))["created"] is True
    assert _json(cli("sets", "import", set_folder, "--json"))["created"] is False
    assert _json(cli("sets", "show", "tiny", "--json"))["language"] == "en"
    full = answers_file("full", "Item {n} is {word}, and it weighs {weight} grams.")
    checked = _json(cli("submissions", "check", full, "--set", "tiny", "--json"))
    assert checked["answers"] == 12
    assert checked["coverage"] == {"d0": 1.0, "d1": 1.0, "d2": 1.0}
    short = answers_file("short", "Item {n} is {word}.", 9)
    for file in (full, short):
        added = _json(cli("submissions", "add", file, "--set", "tiny", "--system", file.stem, "--json"))
        assert added["created"] is True
    scope = ("--set", "tiny", "--judge", "lexical", "--pairs", "all")
    plan = _json(cli("rounds", "plan", *scope, "--json"))
    assert (plan["planned"], plan["missing"]) == (30, 0)
    books = _json(cli("rounds", "run", *scope, "--systems", "full,short", "--name", "r", "--json"))
    assert books["state"] == "finished"
    ended = ("judged", "unreadable", "refused", "failed", "skipped", "missing")
    assert sum(books[name] for name in ended) == books["planned"] == 36
    assert books["missing"] == 6
    assert cli("rounds", "publish", "r").returncode == 0
    board = _json(cli("leaderboard", "show", "r", "--json"))
    best = [line["system"] for line in board["lines"]["overall"]]
    assert best.index("full") < best.index("short")
    shown = cli("leaderboard", "show", "r").stdout
    assert re.search(r"^ *\d\S* +full", shown, re.MULTILINE)
    exported = cli("rounds", "export", "r", "out")
    assert exported.returncode == 0, exported.stderr
    assert _json(cli("rounds", "verify", "out", "--json"))["verified"] is True
    rated = _json(cli("battles", "rate", "out/battles.jsonl", "--bootstrap", "50", "--json"))
    assert [one["system"] for one in rated["ratings"]] == best
    none = cli("leaderboard", "show", "r", "--between-systems")
    assert "no ratings of battles between systems alone" in none.stderr
    assert cli("leaderboard", "export", "r", "board.csv").returncode == 0


def test_changed_export_is_found_out(
    cli: Cli, set_folder: Path, answers_file: Callable[..., Path], tmp_path: Path
) -> None:
    """A battle that was edited after the export no longer passes `verify`."""
    cli("sets", "import", set_folder)
    for name, template in (("one", "Item {n} is {word}."), ("two", "It weighs {weight} grams.")):
        cli("submissions", "add", answers_file(name, template), "--set", "tiny", "--system", name)
    cli("rounds", "run", "--set", "tiny", "--judge", "lexical", "--pairs", "all", "--name", "r")
    cli("rounds", "export", "r", "out")
    battles = tmp_path / "out" / "battles.jsonl"
    written = battles.read_text()
    winner, other = ("model_a", "model_b") if 'model_a"}' in written else ("model_b", "model_a")
    battles.write_text(written.replace(f'{winner}"}}', f'{other}"}}', 1))
    result = cli("rounds", "verify", "out")
    assert result.returncode == 1
    assert "battles.jsonl differs" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("sets", "import", "nowhere"), "There is no"),
        (("sets", "show", "nothing"), "no question set"),
        (("rounds", "status", "nothing"), "no round"),
        (("submissions", "show", "7"), "no submission 7"),
        (("leaderboard", "show", "nothing"), "no board"),
        (("judges", "show", "nobody"), "no judge"),
        (("battles", "rate", "nowhere.jsonl"), "nowhere.jsonl"),
        (("rounds", "verify", "nowhere"), "nowhere"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_1(cli: Cli, words: tuple[str, ...], says: str) -> None:
    """Errors are one line on stderr without a traceback."""
    result = cli(*words)
    assert result.returncode == 1
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ("no-such-noun",),
        ("jobs", "99999999999999999999"),
        ("rounds", "run"),
        ("battles", "rate", "x", "--method", "guess"),
        ("sets", "import"),
    ],
)
def test_misuse_is_exit_2(cli: Cli, words: tuple[str, ...]) -> None:
    """Unknown commands, missing options and unknown choices are misuse."""
    result = cli(*words)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_bad_file_lists_every_problem_and_stores_nothing(cli: Cli, set_folder: Path, tmp_path: Path) -> None:
    """`add` refuses a file with errors, names each with its line, and leaves no submission behind."""
    cli("sets", "import", set_folder)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(
        '{"question_id": "q0", "answer": "Fine."}\n'
        '{"question_id": "q0", "answer": "Again."}\n'
        '{"question_id": "unknown", "answer": "Who?"}\n'
        '{"question_id": "q2", "answer": 5}\n'
        "{broken\n"
    )
    result = cli("submissions", "add", bad, "--set", "tiny", "--system", "s")
    assert result.returncode == 1
    for line in (2, 3, 4, 5):
        assert f"error: line {line}:" in result.stderr
    assert _json(cli("submissions", "list", "--json")) == []
    checked = cli("submissions", "check", bad, "--set", "tiny", "--json")
    assert checked.returncode == 1
    problems = json.loads(checked.stdout)["problems"]
    assert {problem["line"] for problem in problems if problem["severity"] == "error"} == {2, 3, 4, 5}


@pytest.mark.parametrize("form", ["jsonl", "beir"])
def test_set_that_cannot_be_written_is_one_clear_line(cli: Cli, set_folder: Path, form: str) -> None:
    """A destination in which nothing can be made is named, with what to do."""
    cli("sets", "import", set_folder)
    result = cli("sets", "export", "tiny", "/proc/nowhere", "--format", form)
    assert result.returncode == 1
    assert "/proc/nowhere cannot be written" in result.stderr
    assert "Traceback" not in result.stderr


def test_unwritable_home_is_one_clear_line(cli: Cli) -> None:
    """A home that cannot be made says which variable to set."""
    result = cli("sets", "list", ARENA_HOME="/proc/nowhere")
    assert result.returncode == 1
    assert "ARENA_HOME" in result.stderr
    assert "Traceback" not in result.stderr


def test_port_in_use_is_one_clear_line(cli: Cli) -> None:
    """`arena demo` and `arena serve` look at the port before they do anything else."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for command in ("demo", "serve"):
            result = cli(command, "--port", port)
            assert result.returncode == 1
            assert str(port) in result.stderr
            assert "--port" in result.stderr


@pytest.mark.long
def test_unreachable_endpoint_is_one_clear_line(
    cli: Cli, set_folder: Path, answers_file: Callable[..., Path]
) -> None:
    """A round whose endpoint nobody serves stops with the address in one line, resumable."""
    cli("sets", "import", set_folder)
    cli("submissions", "add", answers_file("one", "Item {n}."), "--set", "tiny", "--system", "one")
    result = cli(
        *("rounds", "run", "--set", "tiny", "--judge", "reference-free", "--name", "r", "--no-cap"),
        OPENAI_BASE_URL="http://127.0.0.1:9/v1",
        OPENAI_API_KEY="none",
    )
    assert result.returncode == 1
    assert "http://127.0.0.1:9/v1" in result.stderr.splitlines()[-1]
    assert _json(cli("rounds", "status", "r", "--json"))["state"] == "paused"


def _require_every_figure(
    standings: dict[str, Any], *, round_name: str | None, measured: Sequence[str] = ()
) -> dict[str, tuple[str, str]]:
    """Each entry of the strip above a board is a figure, or says in a sentence why there is none."""
    board = Board(
        id=1,
        name="b",
        round_name=round_name,
        standings=standings,
        content_hash="ab" * 32,
        notice="",
        retracted=False,
        published_at=datetime(2026, 11, 1, tzinfo=UTC),
    )
    strip = {label: (value, meaning) for label, value, meaning in read_board(board).health}
    assert {
        "agreement with people",
        "position flips",
        "without a verdict",
    } <= strip.keys()
    for label, (value, meaning) in strip.items():
        figure = re.fullmatch(r"\d+\.\d % of [\d,]+", value)
        # What was not measured is a word or two, and why in a sentence.
        assert figure or len(meaning.split(". ")[0].split()) > 5, (label, value)
        assert figure or label not in measured, (label, value)
    return strip


@pytest.mark.long
def test_demo_prepares_both_boards_and_repeats_itself(cli: Cli) -> None:
    """`arena demo` publishes the demo, with votes and a board of a week before, and the paper's; once."""
    first = _json(cli("demo", "--no-serve", "--json"))
    assert first == {"boards": ["demo", "rag-qa-arena"]}
    board = _json(cli("leaderboard", "show", "demo", "--json"))
    assert _json(cli("demo", "--no-serve", "--json")) == first
    assert _json(cli("leaderboard", "show", "demo", "--json")) == board
    strip = _require_every_figure(board, round_name="demo", measured=("without a verdict",))
    assert strip["position flips"][0] == "none, by construction"
    assert strip["people's votes"][0] == "corrected by 168 votes of 3 people"
    assert strip["agreement with people"][0] == "71 % of 168 pairs, κ 0.30"
    former = _json(cli("leaderboard", "show", "demo-before", "--json"))
    then, now = (date.fromisoformat(one["facts"]["finished"]) for one in (former, board))
    assert (now - then).days == 7
    _require_every_figure(_json(cli("leaderboard", "show", "rag-qa-arena", "--json")), round_name=None)
    assert board["lines"]["overall"][0]["system"] == "meridian"
    between = cli("leaderboard", "show", "demo", "--between-systems").stdout
    assert "without those against reference. The judge held answers against the reference in" in between
    assert re.search(r"^1 +meridian +\d{4} ", between, re.MULTILINE)
    assert not re.search(r"^\d–\d +reference ", between, re.MULTILINE)


def test_a_system_is_left_out_of_ratings(cli: Cli, tmp_path: Path) -> None:
    """`--without` rates the others by their battles with one another; an unknown name is refused."""
    rows = ["question_id,model_a,model_b,winner"]
    for number in range(8):
        rows.append(f"q{number},one,two,{'model_a' if number < 6 else 'model_b'}")
        rows += [f"q{number},one,human,model_b", f"q{number},two,human,{'model_a' if number else 'tie'}"]
    (tmp_path / "all.csv").write_text("\n".join(rows) + "\n")
    rated = _json(cli("battles", "rate", "all.csv", "--bootstrap", "20", "--without", "human", "--json"))
    assert [(one["system"], one["battles"]) for one in rated["ratings"]] == [("one", 8), ("two", 8)]
    assert (
        "no battle names 'nobody'" in cli("battles", "rate", "all.csv", "--without", "nobody").stderr.lower()
    )


@pytest.mark.long
@pytest.mark.skipif(not TABLES.is_dir(), reason="NO TABLES OF THE PAPER beside the checkout")
def test_table_5_follows_from_table_3(cli: Cli, tmp_path: Path) -> None:
    """Battles rebuilt from the paper's Table 3 give the ratings of its Table 5 (A) within one point."""
    questions = dict(
        line.split(",") for line in (TABLES / "table2_questions.csv").read_text().splitlines()[1:]
    )
    lines = ["question_id,domain,model_a,model_b,winner"]
    for row in (TABLES / "table3_win_rates.csv").read_text().splitlines()[1:]:
        system, domain, win, win_tie = row.split(",")
        if domain == "overall":
            continue
        count = int(questions[domain])
        wins = round(count * float(win) / 100)
        kept = round(count * float(win_tie) / 100)
        winners = ["model_a"] * wins + ["tie"] * (kept - wins) + ["model_b"] * (count - kept)
        lines += [
            f"{domain}-{number},{domain},{system},LFRQA,{winner}" for number, winner in enumerate(winners)
        ]
    battles = tmp_path / "battles.csv"
    battles.write_text("\n".join(lines) + "\n")
    rated = _json(cli("battles", "rate", battles, "--bootstrap", "20", "--cluster", "none", "--json"))
    found = {one["system"]: one["rating"] for one in rated["ratings"]}
    for row in (TABLES / "table5_elo.csv").read_text().splitlines()[1:]:
        system, column, rating = row.split(",")[:3]
        if column == "A":
            assert abs(found[system] - float(rating)) <= 1


def test_help_is_quick_because_it_loads_nothing_heavy() -> None:
    """`python -m arena --help` works by itself and imports none of the heavy libraries."""
    heavy = "{'numpy', 'pandas', 'streamlit', 'sqlalchemy', 'sklearn', 'openai', 'litellm'}"
    script = (
        "import atexit, runpy, sys; sys.argv = ['arena', '--help'];"
        f"atexit.register(lambda: print(sorted({heavy} & set(sys.modules))));"
        "runpy.run_module('arena', run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert "rounds" in result.stdout
    assert result.stdout.rstrip().endswith("[]")


HEAVY = frozenset(
    {"aiohttp", "altair", "apprise", "fastapi", "httpx", "jinja2", "litellm", "networkx", "numpy"}
    | {"openai", "pandas", "pyarrow", "rich", "scipy", "sklearn", "streamlit", "tiktoken", "tqdm"}
)
READING = (
    "battles --help",
    "corpora list",
    "jobs",
    "judges list",
    "judges show lexical",
    "labels show",
    "leaderboard list",
    "metrics list",
    "rounds list",
    "sets list",
    "submissions list",
    "teams list",
)


def test_the_help_says_of_each_command_what_its_own_help_says() -> None:
    """`arena --help` imports no command, and yet says of each what the command says of itself."""
    for name, (_, text) in (item for part in PARTS.values() for item in part.items()):
        found = command().get_command(typer.Context(command()), name)
        assert found is not None
        assert str(found.help).startswith(text.removesuffix("."))


def test_a_command_imports_no_other() -> None:
    """A listing need not wait until every other command has been imported."""
    script = (
        "import sys\n"
        "from arena.cli.commands import command\n"
        "command()(['teams', '--help'], standalone_mode=False)\n"
        "print(sorted(name for name in sys.modules if name.startswith('arena.cli.r')))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.long
def test_commands_that_read_load_no_statistics(
    arena_of: Any,  # noqa: ANN401 - the class stands in a conftest
) -> None:
    arena_of.prepare("http://127.0.0.1:9")
    heavy = set(HEAVY)
    script = (
        "import contextlib, io, sys\n"
        "from arena.cli.commands import command\n"
        "arena = command()\n"
        f"for words in {READING}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):\n"
        "        arena(words.split(), standalone_mode=False)\n"
        f"    print(words, bool(out.getvalue()), sorted({heavy} & set(sys.modules)))\n"
        "import arena.workers.worker\n"
        # The log of workers loads rich wherever it is installed.
        f"print('worker', True, sorted({heavy - {'rich'}} & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    expected = [f"{name} True []" for name in (*READING, "worker")]
    assert result.stdout.splitlines() == expected


JUDGING = ("judges.llm.client", "judges.pairwise.llm_judge", "judges.pairwise.screening", "multiprocessing")


def test_a_list_of_judges_loads_nothing_that_judges() -> None:
    """Specs are read without the client of LLMs, the protection of prompts and processes for texts."""
    script = (
        "import sys\n"
        # What measures the coverage of a run loads modules of its own.
        "before = set(sys.modules)\n"
        "from arena.services.judging.judges import JudgeService\n"
        "from judges.catalogue import load_spec, spec_names\n"
        "names = [load_spec(name).name for name in spec_names()]\n"
        f"print(len(names) > 1, sorted({set(JUDGING)} & (set(sys.modules) - before)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "True []"


def test_the_calls_of_python_load_no_tables_and_no_statistics() -> None:
    """`import answer_arena` and the look-up of its calls wait for none of what a ranking computes with."""
    heavy = {*HEAVY, "pydantic"}
    script = f"import answer_arena as aa, sys; aa.rank, aa.rate; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"


def test_like_warnings_are_printed_in_a_few_lines(
    arena_of: Any,  # noqa: ANN401 - the class stands in a conftest
    tmp_path: Path,
) -> None:
    """E10: twelve answers with the same warning make a few lines; JSON and what is stored stay complete."""
    path = tmp_path / "odd.jsonl"
    rows = [{"question_id": f"q{n}", "answer": f"<b>It</b> is {n} " + "word " * 9000} for n in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = arena_of.json("submissions", "check", path, "--set", "tiny", "--json")
    codes = Counter(problem["code"] for problem in report["problems"])
    (many, count) = codes.most_common(1)[0]
    assert count == 12
    _, out, _ = arena_of("submissions", "check", path, "--set", "tiny")
    told = [line for line in out.splitlines() if many in line]
    assert len(told) == 4
    assert "9 more of this kind, the last in line 12" in told[-1]
