"""Boards as files to download."""

from __future__ import annotations

import csv
import io
import json

from arena.web.views import BoardView, Bounded
from arena.web.wiring import arena

COLUMNS = ["domain", "system", "rank_lower", "rank_upper", "tie_group", "rating", "rating_lower", "rating_upper", "win_rate", "win_lower", "win_upper", "win_tie_rate", "win_tie_lower", "win_tie_upper", "comprehensiveness", "no_answer_share", "median_words", "battles", "questions", "flags"]


def file_stem(view: BoardView) -> str:
    """The name of a board's files, with the beginning of its hash."""
    return f"{view.name}-{view.content_hash[:8]}"


def standings_csv(view: BoardView) -> bytes:
    """The standings of every domain, a line a system and domain; empty where a value does not exist."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for domain, lines in view.lines.items():
        for line in lines:
            writer.writerow(
                [
                    domain,
                    line.system,
                    line.rank_lower,
                    line.rank_upper,
                    line.tie_group,
                    *_three(line.rating),
                    *_three(line.win),
                    *_three(line.win_tie),
                    line.comprehensiveness,
                    line.no_answer,
                    line.words,
                    line.battles,
                    line.questions,
                    " ".join(line.flags),
                ]
            )
    return text.getvalue().encode()


def standings_json(name: str) -> bytes:
    """The published standings as they are stored, with the board's name and hash."""
    board = arena().boards.get(name)
    content = {
        "board": board.name,
        "round": board.round_name,
        "content_hash": board.content_hash,
        "published_at": board.published_at.isoformat(),
        "standings": dict(board.standings),
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


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


def _three(value: Bounded | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if value is None else (value.value, value.lower, value.upper)
