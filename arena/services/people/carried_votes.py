"""Votes within the payload of a worker's job."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.services.people.round_votes import VoteSource
from leaderboard.people import read_votes
from leaderboard.people.votes_files import votes_text
from leaderboard.vocabulary import VoteRule

SENT = "votes.jsonl"


def payload_of(source: VoteSource) -> dict[str, Any]:
    """A source as JSON, with its votes.

    Raises:
        FileFormatError: The file cannot be read.
        RecordError: A value breaks a rule; the message names its line.
    """
    votes = votes_text(read_votes(source.file))
    return {"name": source.name, "rule": source.rule.value, "votes": votes}


@contextmanager
def source_of(payload: Mapping[str, Any] | None) -> Iterator[VoteSource | None]:
    """The source that a payload carries, until the end of the block; None where it carries none."""
    if payload is None:
        yield None
        return
    rule = VoteRule(payload["rule"])
    with _written(payload["votes"]) as file:
        yield VoteSource(name=payload["name"], file=file, rule=rule)


@contextmanager
def _written(text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / SENT
        file.write_text(text, encoding="utf-8")
        yield file
