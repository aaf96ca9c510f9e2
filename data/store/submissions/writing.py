"""New submissions, and how one and its answers are written: whole, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from sqlalchemy import Connection, insert, select, update

from data.models import DEFAULT_PHASE, Answer, SubmissionKind, SubmissionState, SystemCard
from data.models.base import now
from data.models.submissions import answers, questions, submissions
from data.store.base import to_row
from data.store.engine import new_id, pairs

CHUNK = 2_000
STORED_AS: Mapping[SubmissionKind, str] = MappingProxyType(
    {SubmissionKind.ANSWERS: "system", SubmissionKind.CONTEXTS: "contexts"}
)
"""What the column `kind` holds of each kind; it is `reference` for the reference of a set."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """A checked submission that is to be stored; `takes_over` allows it to follow another team's version."""

    set_name: str
    system: str
    team: str
    card: SystemCard
    content_hash: str
    phase: str = DEFAULT_PHASE
    anonymous: bool = False
    state: SubmissionState = SubmissionState.ACCEPTED
    takes_over: bool = False
    kind: SubmissionKind = SubmissionKind.ANSWERS


def insert_submission(connection: Connection, set_id: int, version: int, new: NewSubmission) -> int:
    """Write a submission that has no answers yet, and return its number."""
    at = now()
    row = to_row(
        submissions,
        new,
        set_id=set_id,
        kind=STORED_AS[new.kind],
        version=version,
        card=asdict(new.card),
        created_at=at,
        submitted_at=at if new.state is SubmissionState.ACCEPTED else None,
    )
    return new_id(connection.execute(insert(submissions).values(row)))


def make_place(connection: Connection, set_id: int, system: str, *, submitted: bool) -> int:
    """The number of a system's next version.

    What is submitted follows what was submitted before, so that no gap tells of versions that never were;
    where one of those has the number, it goes to the end.
    """
    same = (submissions.c.set_id == set_id, submissions.c.system == system)
    query = select(submissions.c.version, submissions.c.submitted_at).where(*same)
    versions = {version: at is not None for version, at in connection.execute(query)}
    last = max(versions, default=0)
    if not submitted:
        return last + 1
    following = max((version for version, was in versions.items() if was), default=0) + 1
    connection.execute(
        update(submissions).where(*same, submissions.c.version == following).values(version=last + 1)
    )
    return following


def insert_answers(
    connection: Connection, set_id: int, number: int, rows: Iterable[tuple[Answer, bool]]
) -> None:
    """Write the answers of a submission, some thousands at a time, and count them on it."""
    numbers = _numbers(connection, set_id)
    count = silent = 0
    for chunk in _chunks(rows, CHUNK):
        connection.execute(
            insert(answers),
            [
                {
                    "submission_id": number,
                    "question_id": numbers[answer.question_id],
                    "text": answer.answer,
                    "contexts": [asdict(context) for context in answer.contexts],
                    "no_answer": no_answer,
                    "thinking": answer.thinking or None,
                    "tokens": answer.tokens,
                    "usd": answer.usd,
                    "milliseconds": answer.milliseconds,
                }
                for answer, no_answer in chunk
            ],
        )
        count += len(chunk)
        silent += sum(no_answer for _, no_answer in chunk)
    connection.execute(
        update(submissions).where(submissions.c.id == number).values(answers=count, no_answers=silent)
    )


def _numbers(connection: Connection, set_id: int) -> dict[str, int]:
    return pairs(
        connection.execute(select(questions.c.key, questions.c.id).where(questions.c.set_id == set_id))
    )


def _chunks(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk
