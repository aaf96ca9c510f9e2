"""`arena help`: what a command does, and what settings, judges and files look like."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from textwrap import wrap
from types import MappingProxyType
from typing import Annotated

import typer

from arena.cli.output import show_line, show_table

WIDTH = 78
INDENT = "  "
FIELD = re.compile(r"^    (\w+): (.*)$")
JUDGE_FILE = """\
# house.toml, beside your files or in the folder judges/ of ARENA_HOME
extends  = "reference-free"
model    = "Qwen/Qwen2.5-72B-Instruct"
endpoint = "http://localhost:8000/v1"
order    = "both\""""
SET_FILES = """\
set.toml:         name = "fiqa", title, version, licence, source, reference_name, [domains] id = "label"
questions.jsonl:  {"id": "q1", "domain": "fiqa", "question": "…", "reference": "…", "passages": […]}"""
ANSWERS = """\
answers.jsonl:    {"question_id": "q1", "answer": "…", "contexts": [{"id": "…", "text": "…"}]}"""
BATTLES = """\
battles.jsonl:    {"question_id": "q1", "model_a": "…", "model_b": "…", "winner": "model_a"}"""
LABELS = """\
labels.jsonl:     {"id": "1", "question": "…", "answer_a": "…", "answer_b": "…", "label": "a"}"""
EXITS = """\
0  done
1  an error, said in one line on stderr with what to do
2  misuse: an unknown command or option, or a question that nobody could be asked"""


def _settings() -> None:
    from arena.cli.tree.variables import VARIABLES, default_of

    show_line("Settings are variables of the environment.\n")
    for variable in VARIABLES:
        show_line(variable.name)
        _paragraph(f"{variable.meaning}. Default: {default_of(variable)}.")


def _judge() -> None:
    from judges.spec import JudgeSpec

    show_line("A judge is a TOML file; `extends` starts from another judge, and the rest overrides it.\n")
    show_line(JUDGE_FILE)
    show_line("\nTry it:  arena judges test house.toml\n\nIts settings:\n")
    for name, meaning in _attributes(JudgeSpec):
        words = JudgeSpec.model_fields[name].annotation
        choices = ", ".join(words) if isinstance(words, type) and issubclass(words, StrEnum) else ""
        show_line(name)
        _paragraph(f"{meaning} One of: {choices}." if choices else meaning)


def _formats() -> None:
    from data.files.question_sets.registry import set_formats
    from leaderboard.formats.registry import battle_formats
    from submissions.formats.registry import answer_formats

    show_line("Any file is recognised by its content: JSONL, JSON, CSV, Parquet or Excel, also gzipped.\n")
    for title, example, known in (
        ("Question sets", SET_FILES, tuple(one.name for one in set_formats())),
        ("Answers", ANSWERS, ("arena", "rag-qa-arena", *(one.name for one in answer_formats()))),
        ("Battles", BATTLES, tuple(one.name for one in battle_formats())),
        ("Labels of people", LABELS, ("table", "label-studio", "argilla", "human-evaluations")),
    ):
        show_line(f"{title}\n{example}")
        _paragraph(f"Formats: {', '.join(known)}.")


def _exit_codes() -> None:
    show_line(EXITS)


TOPICS: Mapping[str, tuple[str, Callable[[], None]]] = MappingProxyType(
    {
        "settings": ("the variables of the environment", _settings),
        "judge": ("how a judge file looks, and which settings there are", _judge),
        "formats": ("the files that are read", _formats),
        "exit-codes": ("what a command's exit code says", _exit_codes),
    }
)


def help(  # noqa: A001 - the name of the command
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOPIC", show_default="the topics", help="A topic, or a command."),
    ] = None,
) -> None:
    """Explain a command, or settings, judges and files.

    $ arena help judge
    $ arena help rounds run
    """
    from arena.cli.commands import NOUNS, VERBS, build

    if not words:
        show_line("arena help TOPIC, or arena help COMMAND. Topics:\n")
        show_table(("topic", "what"), [(name, what) for name, (what, _) in TOPICS.items()])
    elif words[0] in TOPICS:
        TOPICS[words[0]][1]()
    elif words[0] in {**NOUNS, **VERBS}:
        typer.main.get_command(build())([*words, "--help"], prog_name="arena")
    else:
        near = get_close_matches(words[0], [*TOPICS, *NOUNS, *VERBS], n=1, cutoff=0.0)
        raise typer.BadParameter(
            f"There is no topic or command {words[0]!r}. Did you mean {near[0]!r}?", param_hint="TOPIC"
        )


def _paragraph(text: str) -> None:
    for line in wrap(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False):
        show_line(line)
    show_line("")


def _attributes(kind: type) -> Iterator[tuple[str, str]]:
    """The attributes that a class explains in its docstring."""
    lines = (inspect.getdoc(kind) or "").partition("Attributes:\n")[2].splitlines()
    yield from _joined(lines)


def _joined(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    name, text = "", ""
    for line in lines:
        if (found := FIELD.match(line)) is not None:
            if name:
                yield name, text
            name, text = found[1], found[2]
        else:
            text = f"{text} {line.strip()}".strip()
    if name:
        yield name, text
