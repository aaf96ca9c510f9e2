"""Smoke tests of every command, generated from the command tree."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import answer_arena as aa
from arena.cli.commands import all_commands, command
from tests.arena.conftest import Commands

ROOT = Path(__file__).parents[3]
Capture = pytest.CaptureFixture[str]
MAX_COMMANDS = 66
EXAMPLE = re.compile(r"^\$ (arena .+)", re.MULTILINE)
COMMANDS = all_commands()
CONTRACT = """
sets: import list show export attach-passages statistics
submissions: check add list show withdraw
judges: list show try calibrate
rounds: plan run list status pause resume cancel retry publish retract export verify compare
battles: rate winrates convert compare-rankings
metrics: list score run plan show export marginals coverage context
leaderboard: show export
corpora: import list search
labels: open list show close export import
teams: add list
teams token: create revoke
db: upgrade
retrieval: score
: demo retrieve mcp serve worker rank losses compare
"""
"""Commands that the design document lists."""


def _required(path: str) -> list[str]:
    words = []
    for parameter in COMMANDS[path].params:
        if parameter.required and parameter.param_type_name == "argument":
            words.append("1" if parameter.metavar in {"ID", "IN", "OUT"} else "nothing-here")
        elif parameter.required:
            words += [parameter.opts[0], "nothing-here"]
    return words


def test_commands_match_contract() -> None:
    lines = (line.split(":") for line in CONTRACT.strip().splitlines())
    contract = {f"{noun} {verb}".strip() for noun, verbs in lines for verb in verbs.split()}
    assert set(COMMANDS) >= contract
    assert sum(not command.hidden for command in COMMANDS.values()) <= MAX_COMMANDS


def _said(capture: Capture, *words: str) -> tuple[object, str, str]:
    """Return exit code, output and errors of a command without a database."""
    with pytest.raises(SystemExit) as ended:
        command().main(list(words), prog_name="arena")
    return ended.value.code, *capture.readouterr()


@pytest.mark.parametrize("path", COMMANDS)
def test_help_has_examples_and_unknown_options_are_usage_errors(capsys: Capture, path: str) -> None:
    code, text, errors = _said(capsys, *path.split(), "--help")
    assert (code, errors) == (0, "")
    examples = EXAMPLE.findall(COMMANDS[path].help or "")
    assert examples
    for example in examples:
        assert example[:20] in text
        words = shlex.split(example)[1:]
        assert words[: len(path.split())] == path.split()
        assert COMMANDS[path].make_context(path, words[len(path.split()) :]).params
    code, text, errors = _said(capsys, *path.split(), "--no-such-option")
    assert (code, text) == (2, "")
    assert errors.startswith("Usage: ")
    assert "No such option: --no-such-option" in errors


# `judges try` takes the name for a model, and waits for an endpoint.
@pytest.mark.parametrize("path", [path for path in COMMANDS if _required(path) and path != "judges try"])
def test_missing_input_reports_error(
    run: Commands, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, errors = run(*path.split(), *_required(path))
    assert "Traceback" not in errors
    assert code in {0, 1, 2}
    if code:
        assert errors.strip().splitlines()[-1].startswith(("arena: ", "Error: "))


def test_commands_read_files_from_pipes() -> None:
    plain = {
        f"{name} {parameter.opts[-1]}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        if "Path" in str(vars(parameter))
        and parameter.callback is None
        and parameter.metavar in {"FILE", "SRC", "VOTES", "PATH"}
        and parameter.opts[-1] not in {"--out", "destination"}
    }
    assert plain <= {"corpora import path", "db restore source"}


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [("rouns", "rounds"), ("rounds stauts", "status"), ("rounds status --jsn", "--json")],
)
def test_misspelt_command_suggests_nearest(capsys: Capture, words: str, suggestion: str) -> None:
    code, _, errors = _said(capsys, *words.split())
    assert code == 2
    assert suggestion in errors.splitlines()[-1]


@pytest.mark.parametrize("noun", ["sets", "submissions", "rounds", "judges", "labels", "teams"])
def test_list_equals_show_without_name(run: Commands, noun: str) -> None:
    show = "status" if noun == "rounds" else "show"
    assert run(noun, "list", "--json") == run(noun, show, "--json")


HEAVY = frozenset(
    {"aiohttp", "altair", "apprise", "fastapi", "httpx", "jinja2", "litellm", "networkx", "numpy", "openai"}
    | {"pandas", "pyarrow", "rich", "scipy", "sklearn", "sqlalchemy", "streamlit", "tiktoken"}
)
LISTS = (
    *("corpora list", "jobs", "judges list", "judges show lexical", "labels list", "leaderboard list"),
    *("metrics list", "rounds list", "sets list", "submissions list", "teams list"),
)


def _printed(script: str) -> list[str]:
    """Return the lines printed by a new process, which has loaded no other modules."""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_help_imports_only_its_group_and_light_modules() -> None:
    lines = _printed(
        "import contextlib, sys\n"
        "from arena.cli.commands import command\n"
        "for words in (['--help'], ['teams', '--help']):\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        command()(words)\n"
        f"    print(sorted({set(HEAVY)} & set(sys.modules)))\n"
        "print(sorted(name for name in sys.modules if name.startswith('arena.cli.r')))\n"
    )
    # The tables of the database come with a group.
    assert [line for line in lines if line.startswith("[")] == ["[]", "['sqlalchemy']", "[]"]


@pytest.mark.slow
def test_lists_and_worker_do_not_load_numpy_or_pandas(arena_of: Commands) -> None:
    arena_of.prepare("http://127.0.0.1:9")
    allowed = {"rich", "sqlalchemy"}
    lines = _printed(
        "import contextlib, io, sys\n"
        "from arena.cli.commands import command\n"
        f"for words in {LISTS}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):\n"
        "        command()(words.split(), standalone_mode=False)\n"
        f"    print(words, bool(out.getvalue()), sorted({set(HEAVY) - {'sqlalchemy'}} & set(sys.modules)))\n"
        "import arena.workers.worker\n"
        # Worker logs load rich if it is installed.
        f"print('worker', True, sorted({set(HEAVY) - allowed} & set(sys.modules)))\n"
    )
    assert lines == [f"{name} True []" for name in (*LISTS, "worker")]


def test_losses_and_compare_do_not_load_numpy(tmp_path: Path) -> None:
    rows = [{"question": f"Is {n} even?", "answer": "Yes."} for n in range(2)]
    aa.rank({"x": rows, "y": rows}, judge=lambda *_: "a", progress=False, out=tmp_path)
    lines = _printed(
        "import sys\n"
        "from arena.cli.commands import command\n"
        "for word in ('losses', 'compare'):\n"
        f"    command()([word, {str(tmp_path)!r}, 'y', 'x'], standalone_mode=False)\n"
        f"    print(sorted({set(HEAVY) - {'sqlalchemy'}} & set(sys.modules)))\n"
    )
    assert [line for line in lines if line.startswith("[")] == ["[]", "[]"]


def test_judges_list_loads_no_judge_code() -> None:
    heavy = {"judges.llm.client", "judges.pairwise.llm_judge", "judges.pairwise.screening", "multiprocessing"}
    (line,) = _printed(
        "import sys\n"
        # Coverage measurement loads modules of its own.
        "before = set(sys.modules)\n"
        "from arena.services.judging.judges import JudgeService\n"
        "from judges.catalogue import load_spec, spec_names\n"
        "names = [load_spec(name).name for name in spec_names()]\n"
        f"print(len(names) > 1, sorted({heavy} & (set(sys.modules) - before)))\n"
    )
    assert line == "True []"


def test_python_calls_do_not_load_numpy_or_pandas() -> None:
    heavy = {*HEAVY, "pydantic"}
    script = f"import answer_arena as aa, sys; aa.rank, aa.rate; print(sorted({heavy} & set(sys.modules)))"
    assert _printed(script) == ["[]"]


@pytest.mark.parametrize(
    ("command", "row"),
    [
        (["battles", "rate"], '{"question_id": "q%s", "model_a": "a", "model_b": "b", "winner": "model_a"}'),
        (
            ["metrics", "score", "--metric", "reference-coverage"],
            '{"id": "q", "question": "Why?", "answer": "So%s.", "reference": "So."}',
        ),
        (["corpora", "import", "--name", "c"], '{"id": "d", "text": "An iron%s bridge."}'),
    ],
)
def test_commands_note_escaped_nuls(arena_of: Commands, command: list[str], row: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(row % r"\u0000")
    assert "read as U+FFFD, since databases cannot store them: 1." in arena_of.stderr(*command, path)
