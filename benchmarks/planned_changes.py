"""Count the files that each planned change touches, by making it in a copy of the checkout.

Each change adds a built-in, not a plugin. Tests and documentation are not counted.
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
    """Planned change.

    Attributes:
        name: The built-in to add.
        files: The new files, by path.
        edits: By path, a line of the file and the text to insert before it.
        trial: An expression that is true if the change has its effect.
    """

    name: str
    files: Mapping[str, str]
    edits: Mapping[str, tuple[str, str]]
    trial: str


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
        trial="'brevity' in output('metrics', 'list')",
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
        trial="loaded('submissions.formats.registry').format_of({'ticket': 1}).name == 'helpdesk'",
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
        trial="'`tickets`' in output('sets', 'import', '--help')",
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
        trial="loaded('leaderboard.standings.columns').column_named('initial') is not None",
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
        trial="callable(loaded('arena.site.pages').pages()['plain'].load().show)",
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
                    'open=_opener("canned", "CannedTransport")))\n\n\n'
                ),
            )
        },
        trial="'`canned`' in output('rounds', 'run', '--help')"
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
        trial="output('sets', 'number').strip() == '0'",
    ),
)
TRIAL = """
import contextlib, io, json, sys
from importlib import import_module as loaded

def output(*words):
    from arena.cli.commands import command
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        command()(list(words))
    return " ".join(out.getvalue().split())

print(json.dumps({name: bool(eval(text)) for name, text in json.loads(sys.argv[1]).items()}))
"""


def count_files() -> Mapping[str, int]:
    """Count the files of each change.

    Raises:
        ValueError: A change does not have its effect.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for package in COPIED:
            shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
        for change in CHANGES:
            _apply(change, copy)
        environment = {
            **os.environ,  # noqa: TID251 - the child needs the environment
            "ARENA_HOME": str(copy / "home"),
            "PYTHONPATH": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-c", TRIAL, json.dumps({change.name: change.trial for change in CHANGES})]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr[-2000:])
    effects: dict[str, bool] = json.loads(done.stdout.splitlines()[-1])
    without = [name for name, effect in effects.items() if not effect]
    if without:
        raise ValueError(f"without effect: {', '.join(without)}")
    return {change.name: len(change.files) + len(change.edits) for change in CHANGES}


def _apply(change: Change, copy: Path) -> None:
    for path, text in change.files.items():
        (copy / path).write_text(text, encoding="utf-8")
    for path, (line, text) in change.edits.items():
        content = (copy / path).read_text(encoding="utf-8")
        if content.count(line) != 1:
            raise ValueError(f"{path} has {line!r} {content.count(line)} times")
        (copy / path).write_text(content.replace(line, text + line), encoding="utf-8")
