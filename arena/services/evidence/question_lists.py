"""The questions of a round as readers look for them: filtered, put into an order."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from arena.models.results import RoundQuestionPage
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import placeholder
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError
from data.models import Preference
from data.store import Store
from data.store.question_stats import BattleResult, QuestionStats

CACHE_SIZE = 8


class Trait(StrEnum):
    """Common property of a question's battles."""

    FLIPPED = "flipped"
    DISPUTED = "disputed"
    UNDECIDED = "undecided"
    TIED = "tied"


class Result(StrEnum):
    """Result of a system's battles on a question."""

    WON = "won"
    LOST = "lost"
    TIED = "tied"
    UNDECIDED = "undecided"


class Order(StrEnum):
    """Order of a list of questions; unknown figures come last."""

    SET = "set"
    DISAGREEMENT = "disagreement"
    CLOSEST = "closest"
    CLEAREST = "clearest"
    SPREAD = "spread"
    FLIPS = "flips"


KEYS: Mapping[Order, Callable[[QuestionStats], float | None]] = {
    Order.DISAGREEMENT: lambda question: _descending(question.disagreement),
    Order.CLOSEST: lambda question: question.margin,
    Order.CLEAREST: lambda question: _descending(question.margin),
    Order.SPREAD: lambda question: _descending(question.spread),
    Order.FLIPS: lambda question: -question.flips,
}
"""By what questions are put into an order, the smallest first; the set's own needs none."""

COUNTS: Mapping[Trait, Callable[[QuestionStats], int]] = {
    Trait.FLIPPED: lambda question: question.flips,
    Trait.DISPUTED: lambda question: question.disputed,
    Trait.UNDECIDED: lambda question: question.undecided,
    Trait.TIED: lambda question: question.ties,
}
RESULTS: Mapping[Preference | None, Result] = {
    Preference.A: Result.WON,
    Preference.B: Result.LOST,
    Preference.TIE: Result.TIED,
    None: Result.UNDECIDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFilter:
    """Filter of questions; None or empty does not filter.

    Each of the `words` must be part of the question or its id. `winner` has the largest share of the win on
    the question, which no other system shares; `opponent` and `result` count only with `system`.
    """

    domain: str | None = None
    words: str = ""
    winner: str | None = None
    trait: Trait | None = None
    system: str | None = None
    opponent: str | None = None
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class QuestionList:
    """The questions of a round, ready to be searched: made once, read by every session.

    `notice` says that texts are left out, and why; empty where none are.
    """

    questions: tuple[QuestionStats, ...]
    haystack: tuple[str, ...]
    notice: str = ""

    @classmethod
    def of(cls, questions: Sequence[QuestionStats], *, notice: str = "") -> "QuestionList":
        """Prepare for searching."""
        return cls(tuple(questions), tuple(map(_haystack, questions)), notice)

    def matching(
        self, wanted: QuestionFilter, *, endings: Iterable[BattleResult] = (), order: Order = Order.SET
    ) -> tuple[QuestionStats, ...]:
        """Select the matching questions; `endings` are of the wanted system's battles (with one opponent)."""
        words = wanted.words.casefold().split()
        result = wanted.result
        met = {end.question for end in endings if result is None or RESULTS[end.preference] is result}
        return in_order(
            [
                question
                for question, text in zip(self.questions, self.haystack, strict=True)
                if (wanted.domain is None or question.domain == wanted.domain)
                and (wanted.system is None or question.id in met)
                and (wanted.winner is None or question.winner == wanted.winner)
                and all(word in text for word in words)
                and (wanted.trait is None or COUNTS[wanted.trait](question) > 0)
            ],
            order,
        )


class QuestionListService:
    """Use cases of readers who search for questions.

    Lists of boards that stand are kept, the last few that were asked for: a published board never changes.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, QuestionList] = OrderedDict()

    def of(self, round_name: str, *, caller: Caller = PUBLIC) -> QuestionList:
        """Every question of a round."""
        round_ = self._store.rounds.get(round_name)
        texts = RoundAccess(self._store, caller, round_).texts
        board = self._store.boards.standing(round_.id)
        if board is None or not texts.sees_questions:
            lines = texts.listed(self._store.question_stats.of_round(round_.id))
            return QuestionList.of(lines, notice=texts.notice)
        name = f"{round_.id} {board}"
        listed = self._kept.get(name)
        if listed is None:
            listed = self._kept[name] = QuestionList.of(self._store.question_stats.of_round(round_.id))
            while len(self._kept) > CACHE_SIZE:
                self._kept.popitem(last=False)
        return replace(listed, notice=texts.notice)

    def page(
        self,
        round_name: str,
        wanted: QuestionFilter,
        order: Order = Order.SET,
        *,
        after: int = 0,
        limit: int = 100,
        caller: Caller = PUBLIC,
    ) -> RoundQuestionPage:
        """Up to `limit` matching questions after the first `after`."""
        listed = self.of(round_name, caller=caller)
        self._check_names(round_name, wanted, caller)
        following = after + limit
        matching = listed.matching(wanted, order=order)
        return RoundQuestionPage(
            questions=matching[after:following],
            next=following if len(matching) > following else None,
            total=len(matching),
            notice=listed.notice,
        )

    def _check_names(self, round_name: str, wanted: QuestionFilter, caller: Caller) -> None:
        """Refuse a domain that the round's set lacks, and a winner that no battle of the round can have."""
        access = RoundAccess(self._store, caller, self._store.rounds.get(round_name))
        if wanted.domain not in {None, *access.texts.domains}:
            advice = f"There are: {', '.join(access.texts.domains)}."
            raise InputError(f"The round {round_name} has no domain {wanted.domain!r}.", advice=advice)
        if wanted.winner not in {None, *access.entrants}:
            advice = f"There are: {', '.join(sorted(access.entrants))}. A reference wins none."
            said = f"No system {wanted.winner!r} can win a question of the round {round_name}."
            raise InputError(said, advice=advice)

    def endings(
        self, round_name: str, system: str, opponent: str | None, *, caller: Caller = PUBLIC
    ) -> tuple[BattleResult, ...]:
        """Return the results of a system's battles (against one opponent)."""
        RoundAccess(self._store, caller, self._store.rounds.get(round_name))
        return self._store.question_stats.endings(round_name, system, opponent)


def in_order(questions: Sequence[QuestionStats], order: Order) -> tuple[QuestionStats, ...]:
    """Questions in an order; equal ones stay as they are."""
    if order is Order.SET:
        return tuple(questions)
    key = KEYS[order]
    known = [question for question in questions if key(question) is not None]
    unknown = [question for question in questions if key(question) is None]
    return (*sorted(known, key=lambda question: key(question) or 0.0), *unknown)


def _descending(value: float | None) -> float | None:
    return None if value is None else -value


def _haystack(question: QuestionStats) -> str:
    text = "" if question.question == placeholder(question.id) else question.question
    return f"{question.id}\n{text}".casefold()
