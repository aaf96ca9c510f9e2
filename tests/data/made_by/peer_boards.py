"""Record the boards of other tools; run by hand with the extra `peers`: FILE is tests/golden/peers.json."""

import json
import sys
from pathlib import Path

from leaderboard.formats.rows import Context
from leaderboard.peers.battles import read_written
from leaderboard.peers.tools import PEERS

ROOT = Path(__file__).resolve().parents[3]
FILES = (
    "tests/golden/battles/arenakit.csv",
    "tests/golden/battles/undefeated.csv",
    "tests/golden/former_store/export/battles.jsonl",
)


def recorded(file: str) -> dict[str, object]:
    """Return each tool's version, ratings and own rules, or its error."""
    battles = read_written(ROOT / file, None, Context())
    boards: dict[str, object] = {}
    for peer in PEERS:
        try:
            frame, own = peer.rate(battles, 0)
            board = frame.astype(object).where(frame.notna(), None).to_dict("index")
            boards[peer.name] = {"version": peer.version, "board": board, "own": own}
        except Exception as error:  # noqa: BLE001 - what the tool raises is recorded
            boards[peer.name] = {"version": peer.version, "error": str(error)}
    return boards


if __name__ == "__main__":
    text = json.dumps({file: recorded(file) for file in FILES}, indent=1, sort_keys=True)
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
