"""The planned battles with what the judge and people say of each: votes joined to the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, RecordError
from leaderboard.battles import BattleTable
from leaderboard.people.votes import Votes
from leaderboard.vocabulary import VoteRule

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Labelled:
    """Planned battles, each once and named by its lower and higher system, and the labels of some.

    Names are numbered in sorted order, so that the order of rows and of sides changes nothing.

    Attributes:
        systems: Names, sorted.
        questions: Ids, sorted.
        domains: Ids, sorted.
        low: (N,) code of each battle's first system by name.
        high: (N,) code of its other system.
        question: (N,) code of its question.
        domain: (N,) code of its domain.
        judge: (N, 3) the judge's mean share of the win for `low`, of wins, and of wins and ties.
        rows: (L,) the labelled battles, rising.
        people: (L, 3) the people's, as `judge`.
        weight: (L,) inverse chance of each to have been labelled by humans.
        votes: How many votes the labels are made of.
        repeated: How many of these repeat a person's vote on one battle; they count like any other.
        annotators: How many people gave them; None where the votes do not say.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    domains: tuple[str, ...]
    low: Ints
    high: Ints
    question: Ints
    domain: Ints
    judge: Floats
    rows: Ints
    people: Floats
    weight: Floats
    votes: int
    repeated: int
    annotators: int | None

    def __len__(self) -> int:
        return len(self.low)


def label(plan: BattleTable, votes: Votes, *, rule: VoteRule = VoteRule.MEAN) -> Labelled:
    """Join votes to the planned battles by question and unordered pair of systems.

    Several verdicts on one battle are averaged, and so are several votes (or their majority taken).

    Raises:
        InputError: There are no votes.
        RecordError: A vote is on no planned battle, or chances are missing for some battles, or differ
            within one; the message names the vote's line.
    """
    if not len(votes):
        raise InputError("There are no votes.", advice="Give at least one vote on a planned battle.")
    system, systems = _sorted(plan.systems)
    question, questions = _sorted(plan.questions)
    domain, domains = _sorted(plan.domains)
    a, b = system[plan.a], system[plan.b]
    low, high = np.minimum(a, b), np.maximum(a, b)
    size = len(systems)
    key = (question[plan.question] * size + low) * size + high
    keys, first, battle = np.unique(key, return_index=True, return_inverse=True)
    judge = _means(battle, _measures(np.where(a < b, plan.share, 1 - plan.share)), len(keys), plan.weight)
    place, flipped = _places(votes, keys, systems, questions)
    shares = np.where(flipped, 1 - votes.share, votes.share)
    rows, of_row = np.unique(place, return_inverse=True)
    people = (
        _majority(of_row, shares, len(rows))
        if rule is VoteRule.MAJORITY
        else _means(of_row, _measures(shares), len(rows))
    )
    named = {name for name in votes.annotator if name}
    return Labelled(
        systems=systems,
        questions=questions,
        domains=domains,
        low=low[first],
        high=high[first],
        question=question[plan.question[first]],
        domain=domain[plan.domain[first]],
        judge=judge,
        rows=rows,
        people=people,
        weight=1 / _chances(votes, of_row, len(rows), len(keys)),
        votes=len(votes),
        repeated=_repeated(votes, place),
        annotators=len(named) if named else None,
    )


def _sorted(names: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """The new code of each name, and the names in order."""
    order = sorted(range(len(names)), key=names.__getitem__)
    code = np.empty(len(names), dtype=np.int64)
    code[order] = np.arange(len(names))
    return code, tuple(names[at] for at in order)


def _measures(share: Floats) -> Floats:
    """(n, 3) share of the win, whether it is a win, and whether it is a win or a tie."""
    return np.column_stack([share, share > 0.5, share >= 0.5]).astype(np.float64)  # noqa: PLR2004 - an even share


def _means(code: Ints, values: Floats, size: int, weight: Floats | None = None) -> Floats:
    weighted = values if weight is None else values * weight[:, None]
    total = np.bincount(code, weight, size)
    sums = [np.bincount(code, column, size) for column in weighted.T]
    return np.column_stack(sums) / total[:, None]


def _majority(code: Ints, share: Floats, size: int) -> Floats:
    """(size, 3) measures of the side that more than half of a battle's votes name; of a tie without one."""
    votes = np.bincount(code, minlength=size)
    won = 2 * np.bincount(code, share > 0.5, size) > votes  # noqa: PLR2004 - an even share
    lost = 2 * np.bincount(code, share < 0.5, size) > votes  # noqa: PLR2004 - an even share
    return _measures(np.where(won, 1.0, np.where(lost, 0.0, 0.5)))


def _places(
    votes: Votes, keys: Ints, systems: tuple[str, ...], questions: tuple[str, ...]
) -> tuple[Ints, NDArray[np.bool_]]:
    """(V,) battle of each vote, and whether the vote names the two systems the other way round."""
    of_system = {name: code for code, name in enumerate(systems)}
    of_question = {name: code for code, name in enumerate(questions)}
    a, b = _codes(votes.model_a, of_system), _codes(votes.model_b, of_system)
    question = _codes(votes.question_id, of_question)
    known = (a >= 0) & (b >= 0) & (question >= 0)
    wanted = (question * len(systems) + np.minimum(a, b)) * len(systems) + np.maximum(a, b)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known &= keys[place] == wanted
    if not known.all():
        _refuse_off_plan(votes, int(np.argmin(known)), a, b, question)
    return place.astype(np.int64), a > b


def _codes(names: Sequence[str], codes: Mapping[str, int]) -> Ints:
    return np.fromiter((codes.get(name, -1) for name in names), dtype=np.int64, count=len(names))


def _refuse_off_plan(votes: Votes, index: int, a: Ints, b: Ints, question: Ints) -> NoReturn:
    if question[index] < 0:
        what = f"the question {votes.question_id[index]!r} is not in the plan"
    elif min(a[index], b[index]) < 0:
        name = votes.model_a[index] if a[index] < 0 else votes.model_b[index]
        what = f"the system {name!r} is not in the plan"
    else:
        what = f"{votes.model_a[index]!r} and {votes.model_b[index]!r} do not meet on that question"
    message = f"{votes.place.at(index)}: the vote is on no planned battle; {what}."
    raise RecordError(message, advice="Give verdicts on every battle that was labelled by humans.")


def _repeated(votes: Votes, place: Ints) -> int:
    """How many votes repeat a named person's vote on one battle."""
    named = [(name, battle) for name, battle in zip(votes.annotator, place.tolist(), strict=True) if name]
    return len(named) - len(set(named))


def _chances(votes: Votes, of_row: Ints, rows: int, planned: int) -> Floats:
    """(L,) the chance of each labelled battle: the one its votes give, else the share labelled."""
    given = ~np.isnan(votes.sampling_prob)
    if not given.any():
        return np.full(rows, rows / planned)
    chance = np.full(rows, np.nan)
    # The last assignment wins, so reversed rows leave each battle's first chance.
    chance[of_row[given][::-1]] = votes.sampling_prob[given][::-1]
    if np.isnan(chance).any():
        index = int(np.argmax(np.isnan(chance[of_row])))
        message = f"{votes.place.at(index, 'sampling_prob')}: this battle has no chance, and others have one."
        raise RecordError(message, advice="Give every battle its chance, or none.")
    unequal = given & (np.abs(chance[of_row] - np.where(given, votes.sampling_prob, 0)) > 1e-9)  # noqa: PLR2004 - rounding
    if unequal.any():
        index = int(np.argmax(unequal))
        message = (
            f"{votes.place.at(index, 'sampling_prob')}: {votes.sampling_prob[index]:g} cannot be used; "
            f"another vote on this battle says {chance[of_row[index]]:g}."
        )
        raise RecordError(message, advice="A chance belongs to the battle: give all its votes the same.")
    return chance
