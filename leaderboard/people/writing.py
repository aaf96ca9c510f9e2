"""Votes files out: the format that `read_votes` reads, as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from leaderboard.people.votes import Votes

WINNERS = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}


def votes_text(votes: Votes) -> str:
    """Votes as a votes file: a line each, with what is known of it."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(votes))


def _rows(votes: Votes) -> Iterator[dict[str, object]]:
    for index in range(len(votes)):
        share, chance = float(votes.share[index]), float(votes.chance[index])
        row: dict[str, object] = {
            "question_id": votes.question_id[index],
            "model_a": votes.model_a[index],
            "model_b": votes.model_b[index],
        }
        row |= {"winner": WINNERS[share]} if share in WINNERS else {"score": share}
        if votes.annotator[index]:
            row["annotator"] = votes.annotator[index]
        if not np.isnan(chance):
            row["chance"] = chance
        yield row
