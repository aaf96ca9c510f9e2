"""Files of battles beside other tools: what makes boards differ."""

from pathlib import Path

from arena.services.battle_files import Reading, left_out_notes
from leaderboard.formats.rows import Context

NAMED_TOOLS = ("arena-rank", "evalica")


def check_file(path: Path, reading: Reading) -> tuple[list[dict[str, str]], list[str]]:
    """Return what of a file makes boards differ, with what it does here and in two tools, and notes."""
    from leaderboard.peers.battles import read_written
    from leaderboard.peers.facts import facts, rules

    battles = read_written(path, reading.read_as, Context(strict=reading.strict, named=reading.named))
    texts, names = rules()["rules"], ("finding", "here", *NAMED_TOOLS)
    rows = [
        {"rule": rule} | {name: texts[rule][name].format_map(values) for name in names}
        for rule, values in facts(battles).items()
    ]
    return rows, left_out_notes(battles.left_out, battles.first)
