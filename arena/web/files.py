"""Boards as files to download: the same bytes as the command line writes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from arena.web.views import BoardView
from arena.web.wiring import arena


def file_stem(view: BoardView) -> str:
    """The name of a board's files, with the beginning of its hash."""
    return f"{view.name}-{view.content_hash[:8]}"


def board_file(name: str, ending: str) -> bytes:
    """A board's standings as `csv`, `json` or `parquet`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"board.{ending}"
        arena().boards.export_board(name, path)
        return path.read_bytes()


def battles_jsonl(round_name: str) -> bytes:
    """The judged battles of a round in the field's names, a line each (docs/design.md, section 4)."""
    lines = [
        json.dumps(
            {
                "question_id": battle.question_id,
                "domain": battle.domain,
                "model_a": battle.system_a,
                "model_b": battle.system_b,
                "winner": {"a": "model_a", "b": "model_b"}.get(battle.preference, "tie"),
                **({} if battle.score is None else {"score": battle.score}),
            },
            ensure_ascii=False,
        )
        for battle in arena().rounds.battles(round_name)
        if battle.preference is not None
    ]
    return "".join(f"{line}\n" for line in lines).encode()
