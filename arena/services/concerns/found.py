"""What the arena finds by itself and puts before the organisers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from data.percent import percent
from data.plural import counted
from data.records import Problem, Round, Submission
from data.records.concerns import ConcernKind, NewConcern
from data.records.notifications import NewEvent
from data.store import Store
from submissions.problem_codes import Code

MOST_LINES = 5
"""Lines of evidence that a concern has."""
LEAST_CHARACTERS = 40
"""Shorter answers may be equal by chance."""
MOST_EQUAL = 0.5
"""The share of answers that two teams' systems may have in common."""
FEWEST_EQUAL = 5


def raise_of_submission(store: Store, submission: Submission, problems: Iterable[Problem]) -> None:
    """Put before the organisers what a check found in a submission that is stored.

    Args:
        store: Where concerns are kept.
        submission: The submission.
        problems: What the check found, with the references of the set, also where these are hidden.
    """
    by_code: dict[str, list[Problem]] = {}
    for problem in problems:
        by_code.setdefault(str(problem.code), []).append(problem)
    named = f"{submission.system}, version {submission.version}"
    for kind, code, whole in (
        (ConcernKind.NEAR_COPIES, Code.NEAR_COPY, Code.MANY_NEAR_COPIES),
        (ConcernKind.JUDGE_DIRECTED, Code.JUDGE_DIRECTED, None),
    ):
        found = by_code.get(str(code), [])
        if not found or (whole is not None and str(whole) not in by_code):
            continue
        of_file = by_code.get(str(whole), []) if whole is not None else []
        what = of_file[0].message if of_file else f"{counted(len(found), 'answer')} may speak to the judge."
        _raise(
            store,
            NewConcern(
                kind=kind,
                key=f"{kind} {submission.id}",
                text=f"{named}: {what}",
                evidence=tuple(f"Line {one.line}: {one.message}" for one in found[:MOST_LINES]),
                submission_id=submission.id,
            ),
        )
    _raise_equal(store, submission, named)


def _raise_equal(store: Store, submission: Submission, named: str) -> None:
    """A concern for each other team's system with which half of the long answers are equal."""
    texts = _texts(store, submission.id)
    if not texts:
        return
    for other in store.submissions.find(set_name=submission.set_name, newest=True):
        if other.team == submission.team or other.id == submission.id:
            continue
        theirs = _texts(store, other.id)
        equal = [question for question, text in texts.items() if theirs.get(question) == text]
        if len(equal) >= FEWEST_EQUAL and len(equal) > MOST_EQUAL * len(texts):
            share = percent(len(equal) / len(texts), decimals=0)
            _raise(
                store,
                NewConcern(
                    kind=ConcernKind.SAME_ANSWERS,
                    key=f"{ConcernKind.SAME_ANSWERS} {submission.id} {other.id}",
                    text=f"{named}: {share} of its answers are also those of {other.system} ({other.id}).",
                    evidence=tuple(f"Question {question}" for question in equal[:MOST_LINES]),
                    submission_id=submission.id,
                ),
            )


def _texts(store: Store, submission: int) -> Mapping[str, str]:
    """The long answers of a submission by question, but for case and spaces."""
    return {
        fact.question_id: " ".join(fact.text.casefold().split())
        for fact in store.submissions.facts(submission)
        if len(fact.text) >= LEAST_CHARACTERS and not fact.no_answer
    }


def raise_of_round(store: Store, round_: Round) -> None:
    """Put before the organisers what the judging of a round has shown so far."""
    for concern in _of_round(store, round_):
        _raise(store, concern)


def _of_round(store: Store, round_: Round) -> Iterator[NewConcern]:
    from arena.services.rounds.canaries import canary_results  # noqa: PLC0415 - loads judges, which submissions do without

    counts = store.rounds.counts(round_.name)
    if counts.skipped and round_.budget_usd is not None and not counts.pending:
        yield NewConcern(
            kind=ConcernKind.CAP_REACHED,
            key=f"{ConcernKind.CAP_REACHED} {round_.id} {round_.budget_usd}",
            text=f"The round {round_.name} reached its cap of {round_.budget_usd:g} USD: "
            f"{counts.skipped:,} of {counts.planned:,} battles were not judged.",
            evidence=("A larger cap lets the rest be judged.",),
            round_id=round_.id,
        )
    attacks = canary_results(store.canaries.of_round(round_.name))
    if attacks.report.succeeded and not attacks.pending:
        families = sorted(attacks.report.by_family.items(), key=lambda one: (-one[1][1], one[0]))
        yield NewConcern(
            kind=ConcernKind.INJECTIONS,
            key=f"{ConcernKind.INJECTIONS} {round_.id}",
            text=f"The judge of {round_.name} obeyed {attacks.report.succeeded:,} of "
            f"{attacks.report.judged:,} planted injections.",
            evidence=tuple(
                f"{family}: {won:,} of {judged:,}" for family, (judged, won) in families[:MOST_LINES] if won
            ),
            round_id=round_.id,
        )
    conduct = store.conduct.of_round(round_.name)
    sentences = conduct.sentences()
    if sentences and conduct.enough:
        yield NewConcern(
            kind=ConcernKind.JUDGE_CONDUCT,
            key=f"{ConcernKind.JUDGE_CONDUCT} {round_.id}",
            text=f"The judge of {round_.name}: {sentences[0]}",
            evidence=tuple(sentences[1:MOST_LINES]),
            round_id=round_.id,
        )


def _raise(store: Store, concern: NewConcern) -> None:
    number = store.concerns.add(concern)
    if number is not None:
        store.outbox.record(NewEvent.of_concern(number, concern))
