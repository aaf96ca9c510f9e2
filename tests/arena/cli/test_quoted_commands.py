"""Commands quoted in the code, run in an arena that has every named object."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.conftest import TWO, Commands, Fill, write_set

ROOT = Path(__file__).parents[3]
QUOTED = re.compile(r"(?:`|: |^)arena ([a-z]+\b[^`;(]*?)(?=[`;]|\.?$|\. [A-Z])", re.MULTILINE)
PLACEHOLDER = re.compile(r"X+|[A-Z]+…?|ACCOUNT,…|[ab]\.csv")
INCOMPLETE = re.compile(r"Missing (argument|option)|requires an argument|COMMAND \[ARGS\]|Add --yes")
ENDLESS = ("demo", "serve", "worker", "mcp")
VALUES = {
    "--set": "tiny",
    "--judge": "lexical",
    "--systems": "full,short",
    "--system": "full",
    "--name": "new",
    "--metric": "reference-coverage",
    "--labels": "labels.jsonl",
    "--invite": "Ada",
    "--out": "ranked",
    "battles": "battles.jsonl",
    "compare": "arena-board full short",
    "corpora import": "corpus.jsonl",
    "db restore": "arena.backup",
    "judges price": "gpt-5-mini 1 2",
    "labels": "r",
    "losses": "arena-board full short",
    "rank": "full.csv short.csv",
    "rounds": "r",
    "sets": "tiny",
    "submissions add": "full.csv",
    "teams": "red",
    "teams accounts": "Ada",
}
"""Value of each placeholder, by the preceding option, the command or the group."""


def quoted_commands() -> Iterator[str]:
    """Yield the commands, with X for values that are filled in at run time."""
    for room in ("arena", "judges", "leaderboard", "submissions", "data"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
                    yield from QUOTED.findall("".join(map(str, parts)))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from QUOTED.findall(node.value)


def filled_in(command: str) -> list[str]:
    """Return the words of a command with a value in place of each placeholder."""
    words: list[str] = []
    for word in command.split():
        keys = (words[-1], " ".join(words[:2]), words[0]) if words else ()
        values = next((VALUES[key] for key in keys if key in VALUES), word).split()
        if not PLACEHOLDER.fullmatch(word):
            words.append(word)
        elif values[0] not in words:
            words += values
    return words


@pytest.mark.slow
def test_quoted_commands_run(
    run: Commands, filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    filled(published=True)
    write_set(tmp_path)
    for system, template in zip(("full", "short"), TWO.values(), strict=True):
        answers = (template.format(n=number, word="red", weight=number) for number in range(12))
        rows = [
            f"q{number},What do we know of item {number}{' then' * (number % 2)}?,{answer}"
            for number, answer in enumerate(answers)
        ]
        Path(f"{system}.csv").write_text("\n".join(["question_id,question,answer", *rows]))
    Path("corpus.jsonl").write_text('{"id": "d1", "text": "Item 1 is red."}\n')
    Path("labels.jsonl").write_text(
        '{"id": "1", "domain": "d1", "question": "Which item?", "passages": ["Item 1 is red."], '
        '"answer_a": "Item 1.", "answer_b": "None.", "label": "a"}\n'
    )
    run.done("rank", "full.csv", "short.csv", "--references", "tiny/questions.jsonl", "--yes")
    run.done("rounds", "export", "r", "exported")
    Path("exported/battles.jsonl").rename("battles.jsonl")
    run.done("teams", "accounts", "Ada")
    run.done("db", "backup", "arena.backup")
    commands = sorted({" ".join(command.split()) for command in quoted_commands()} - {"rounds X X"})
    assert len(commands) > 100
    faults = []
    for words in map(filled_in, commands):
        if words[0] not in ENDLESS:
            code, _, error = run(*words)
            if (code and not INCOMPLETE.search(error)) and (
                code != 1 or re.search("There is no|Traceback|No such", error)
            ):
                faults.append((words, error))
    assert faults == []
