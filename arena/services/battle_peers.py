"""Comparison of battle files with other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

from arena.services.battle_files import Reading, left_out_notes
from leaderboard.formats.rows import Context

if TYPE_CHECKING:
    from leaderboard.peers.battles import WrittenBattles
    from leaderboard.peers.compare import Comparison

NAMED_TOOLS = ("arena-rank", "evalica")
NO_PEER = "alpaca_eval is not compared: its length control fits two systems on its own 805 prompts only"


def check_file(path: Path, reading: Reading) -> tuple[list[dict[str, str]], list[str]]:
    """Return properties of a file on which tools differ, with their handling, and notes."""
    from leaderboard.peers.facts import facts, rules

    battles, notes = _read(path, reading)
    known = rules()
    texts = ("finding", "here", *NAMED_TOOLS)
    rows = [
        {"rule": rule} | {text: known["rules"][rule][text].format_map(values) for text in texts}
        for rule, values in facts(battles).items()
    ]
    return rows, notes


def compare_tools_on_file(path: Path, seed: int, reading: Reading) -> "tuple[Comparison, list[str]]":
    """Rate a file here and by each installed tool, with notes."""
    from leaderboard.peers.compare import compare_tools
    from leaderboard.peers.facts import rules

    battles, notes = _read(path, reading)
    comparison = compare_tools(battles, seed=seed)
    for name, known in rules()["versions"].items():
        if (installed := comparison.versions[name]) is None:
            notes.append(f"{name} is not installed (pip install 'answer-arena[peers]')")
        elif installed != known:
            notes.append(f"{name} {installed} is installed; the explanations are for {known}")
    return comparison, [*notes, NO_PEER]


def _read(path: Path, reading: Reading) -> "tuple[WrittenBattles, list[str]]":
    from leaderboard.peers.battles import read_written

    battles = read_written(path, reading.read_as, Context(strict=reading.strict, named=reading.named))
    return battles, left_out_notes(battles.left_out, battles.first)
