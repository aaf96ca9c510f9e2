"""Each change that the architecture plans for, made in a copy of the checkout: how many files it takes.

Each change adds something of the arena's own, not a plugin, and is tried there: what it adds must be found by
its name where people find it. Tests and documentation come on top.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("arena", "judges", "leaderboard", "submissions", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change.

    Attributes:
        name: What is added.
        files: The new files, by path.
        edits: Of a file, the line before which text is put, and the text.
        tried: An expression that is true where the change has its effect.
    """

    name: str
    files: Mapping[str, str]
    edits: Mapping[str, tuple[str, str]]
    tried: str


CHANGES = (
    Change(
        name="metric",
        files={
            "judges/metrics/brevity.py": "from judges.metrics.registry import MetricInfo, of_function\n\n"
            "METRICS = (MetricInfo(name='brevity', title='How short', "
            "build=of_function(lambda item: 0.5)),)\n"
        },
        edits={
            "judges/metrics/registry.py": ("\n@cache\ndef own_metrics", 'FAMILIES = (*FAMILIES, "brevity")\n')
        },
        tried="'brevity' in said('metrics', 'list')",
    ),
    Change(
        name="format",
        files={
            "submissions/formats/helpdesk.py": "from submissions.formats.registry "
            "import AnswerFormat, NamedAnswer\n\n"
            "FORMATS = (AnswerFormat(name='helpdesk', fits=lambda row: 'ticket' in row, "
            "read=lambda row, questions: NamedAnswer(ids=[row['ticket']], answer=row['reply'])),)\n"
        },
        edits={"submissions/formats/registry.py": ("TEXTS = (", 'MODULES = (*MODULES, ".helpdesk")\n')},
        tried="loaded('submissions.formats.registry').format_of({'ticket': 1}).name == 'helpdesk'",
    ),
    Change(
        name="set format",
        files={
            "data/files/question_sets/tickets.py": "from data.files.question_sets.registry "
            "import SetFormat\n\n"
            "FORMATS = (SetFormat(name='tickets', fits=lambda path: path.suffix == '.tickets', "
            "read=lambda path: []),)\n"
        },
        edits={"data/files/question_sets/registry.py": ("DOMAIN =", 'MODULES = (".tickets", *MODULES)\n')},
        tried="'`tickets`' in said('sets', 'import', '--help')",
    ),
    Change(
        name="column",
        files={},
        edits={
            "leaderboard/standings/columns.toml": (
                "# Columns of a board",
                '[[column]]\nname = "initial"\nmeaning = "Its first letter."\nfrom = "system"\n\n',
            )
        },
        tried="loaded('leaderboard.standings.columns').column_named('initial') is not None",
    ),
    Change(
        name="page",
        files={"arena/site/plain_page.py": "def show():\n    pass\n"},
        edits={
            "arena/site/pages.py": (
                "def added_pages()",
                'OWN = (*OWN, Page(name="plain", title="Plain", module="plain_page", menu=MORE))\n\n\n',
            )
        },
        tried="callable(loaded('arena.site.pages').pages()['plain'].load().show)",
    ),
    Change(
        name="transport",
        files={
            "judges/llm/transports/canned.py": "class CannedTransport:\n    unlimited = False\n\n"
            "    def __init__(self, settings):\n        pass\n"
        },
        edits={
            "judges/llm/transports/registry.py": (
                "def added_transports()",
                (
                    'OWN = (*OWN, TransportInfo(name="canned", title="one reply", '
                    'open=_of_settings("canned", "CannedTransport")))\n\n\n'
                ),
            )
        },
        tried="'`canned`' in said('rounds', 'run', '--help')"
        " and loaded('judges.llm.transports.registry').transport_info('canned').opened(None, None, None)",
    ),
    Change(
        name="command",
        files={},
        edits={
            "arena/cli/sets.py": (
                '@commands.command("import")',
                (
                    '@commands.command("number")\ndef number() -> None:\n    """Count the question sets.\n\n'
                    '    $ arena sets number\n    """\n'
                    "    typer.echo(len(open_arena().sets.summaries()))\n\n\n"
                ),
            )
        },
        tried="said('sets', 'number').strip() == '0'",
    ),
)
TRIAL = """
import contextlib, io, json, sys
from importlib import import_module as loaded

def said(*words):
    from arena.cli.commands import command
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        command()(list(words))
    return " ".join(out.getvalue().split())

print(json.dumps({name: bool(eval(text)) for name, text in json.loads(sys.argv[1]).items()}))
"""


def counted() -> Mapping[str, int | None]:
    """Count the files that each change takes; None for one without a place yet.

    Raises:
        ValueError: A change has not the effect that it should have.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for room in COPIED:
            shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        made = [change for change in CHANGES if _make(change, copy)]
        environment = {
            **os.environ,  # noqa: TID251 - what a process of the machine needs
            "ARENA_HOME": str(copy / "home"),
            "PYTHONPATH": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        trials = json.dumps({change.name: change.tried for change in made})
        command = [sys.executable, "-c", TRIAL, trials]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr[-2000:])
    effects: dict[str, bool] = json.loads(done.stdout.splitlines()[-1])
    without = [name for name, effect in effects.items() if not effect]
    if without:
        raise ValueError(f"without effect: {', '.join(without)}")
    return {
        change.name: len(change.files) + len(change.edits) if change in made else None for change in CHANGES
    }


def _make(change: Change, copy: Path) -> bool:
    """Make a change in a copy; whether it has the files that are edited."""
    if not all((copy / path).is_file() for path in change.edits):
        return False
    for path, text in change.files.items():
        (copy / path).write_text(text, encoding="utf-8")
    for path, (before, text) in change.edits.items():
        content = (copy / path).read_text(encoding="utf-8")
        if content.count(before) != 1:
            raise ValueError(f"{path} has {before!r} {content.count(before)} times")
        (copy / path).write_text(content.replace(before, text + before), encoding="utf-8")
    return True
