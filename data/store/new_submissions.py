"""A submission that is new, and how it is written with its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice

from sqlalchemy import Connection, insert, select, update

from data.records import DEFAULT_PHASE, Answer, SubmissionState, SystemCard
from data.store.database import new_id
from data.store.moments import now
from data.tables import answers, questions, submissions

CHUNK = 2_000


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


def insert_submission(connection: Connection, set_id: int, version: int, new: NewSubmission) -> int:
    """Write a submission that has no answers yet, and return its number."""
    result = connection.execute(
        insert(submissions).values(
            set_id=set_id,
            kind="system",
            system=new.system,
            team=new.team,
            version=version,
            state=new.state,
            card=asdict(new.card),
            content_hash=new.content_hash,
            answers=0,
            no_answers=0,
            phase=new.phase,
            anonymous=new.anonymous,
            selected=False,
            withdrawn_reason="",
            created_at=now(),
        )
    )
    return new_id(result)


def insert_answers(
    connection: Connection, set_id: int, number: int, rows: Iterable[tuple[Answer, bool]]
) -> None:
    """Write the answers of a submission, some thousands at a time, and count them on it."""
    numbers: dict[str, int] = {
        key: question
        for question, key in connection.execute(
            select(questions.c.id, questions.c.key).where(questions.c.set_id == set_id)
        )
    }
    count = silent = 0
    for chunk in _chunks(rows):
        connection.execute(
            insert(answers),
            [
                {
                    "submission_id": number,
                    "question_id": numbers[answer.question_id],
                    "text": answer.answer,
                    "contexts": [asdict(context) for context in answer.contexts],
                    "no_answer": no_answer,
                }
                for answer, no_answer in chunk
            ],
        )
        count += len(chunk)
        silent += sum(no_answer for _, no_answer in chunk)
    connection.execute(
        update(submissions).where(submissions.c.id == number).values(answers=count, no_answers=silent)
    )


def _chunks(rows: Iterable[tuple[Answer, bool]]) -> Iterator[list[tuple[Answer, bool]]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
