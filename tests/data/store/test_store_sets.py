"""Question sets and submissions in the store, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from data.errors import ConflictError, NotFoundError, StoreError
from data.files.question_sets.rows import content_hash
from data.models import Answer, Passage, SystemCard
from data.store import Store
from data.store.submissions import NewSubmission
from tests.data.conftest import make_set


def _new(system: str = "s", content: str = "h1") -> NewSubmission:
    return NewSubmission(
        set_name="tiny", system=system, team="t", card=SystemCard(model="m"), content_hash=content
    )


def _rows(count: int) -> list[tuple[Answer, bool]]:
    context = Passage("c1", "A context.", "Title")
    return [
        (Answer(question_id=f"q{number}", answer=f"answer {number}", contexts=(context,)), number == 0)
        for number in range(count)
    ]


@pytest.fixture
def filled(store: Store) -> Store:
    """Store with the tiny set."""
    questions = make_set()
    assert store.sets.add(questions, content_hash(questions))
    return store


def test_stored_set_is_returned_unchanged(filled: Store) -> None:
    assert filled.sets.get("tiny") == make_set()
    assert filled.sets.summary("tiny").counts == {"x": 3, "y": 3}


def test_second_import_changes_nothing(filled: Store) -> None:
    assert not filled.sets.add(make_set(), content_hash(make_set()))
    with pytest.raises(ConflictError, match="tiny"):
        filled.sets.add(make_set(count=4), content_hash(make_set(count=4)))
    assert filled.sets.summary("tiny").questions == 6


def test_reference_is_submission_with_answer_per_referenced_question(filled: Store) -> None:
    reference = filled.submissions.reference("tiny")
    assert (reference.system, reference.answers) == ("human", 5)
    assert filled.submissions.find(set_name="tiny") == ()


def test_unknown_names_are_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.sets.summary("nothing")
    with pytest.raises(NotFoundError):
        store.submissions.get(99)
    with pytest.raises(NotFoundError):
        store.submissions.add(_new(), [])


def test_versions_of_system_follow_each_other(filled: Store) -> None:
    first, created = filled.submissions.add(_new(content="h1"), _rows(3))
    assert (first.version, created, first.answers, first.no_answers) == (1, True, 3, 1)
    again, created = filled.submissions.add(_new(content="h1"), _rows(3))
    assert (again.id, created) == (first.id, False)
    second, _ = filled.submissions.add(_new(content="h2"), _rows(4))
    assert second.version == 2
    assert [submission.version for submission in filled.submissions.find(set_name="tiny", newest=True)] == [2]
    filled.submissions.withdraw(second.id, "wrong file")
    assert [submission.version for submission in filled.submissions.find(set_name="tiny", newest=True)] == [1]


def test_failing_submission_leaves_nothing_behind(filled: Store) -> None:
    def rows() -> Iterator[tuple[Answer, bool]]:
        yield from _rows(2)
        message = "the stream broke"
        raise OSError(message)

    with pytest.raises(OSError, match="broke"):
        filled.submissions.add(_new(), rows())
    assert filled.submissions.find() == ()


def test_answers_are_returned_with_contexts(filled: Store) -> None:
    stored, _ = filled.submissions.add(_new(), reversed(_rows(3)))
    answers = filled.submissions.answers(stored.id)
    assert list(answers) == ["q0", "q1", "q2"]
    assert answers["q2"].contexts == (Passage("c1", "A context.", "Title"),)
    assert filled.submissions.domain_counts(stored.id) == {"x": (2, 1), "y": (1, 0)}


def test_unreachable_database_is_one_clear_error() -> None:
    with pytest.raises(StoreError, match="cannot be used") as caught:
        Store.open("postgresql+psycopg://someone:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)
    with pytest.raises(StoreError):
        Store.open("sqlite:////proc/nowhere/arena.sqlite")
