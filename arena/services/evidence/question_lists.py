"""Filtered and sorted lists of a round's questions."""

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
"""Sort keys, ascending; the set's order needs none."""

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

    Questions or their ids contain all `words`. `winner` has the largest share of wins, without a tie;
    `opponent` and `result` need `system`.
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
    """Searchable questions of a round, shared by sessions; `notice` is about hidden texts."""

    questions: tuple[QuestionStats, ...]
    haystack: tuple[str, ...]
    notice: str = ""

    @classmethod
    def of(cls, questions: Sequence[QuestionStats], *, notice: str = "") -> "QuestionList":
        """Prepare questions for searching."""
        return cls(tuple(questions), tuple(map(_haystack, questions)), notice)

    def matching(
        self, filter_: QuestionFilter, *, endings: Iterable[BattleResult] = (), order: Order = Order.SET
    ) -> tuple[QuestionStats, ...]:
        """Select matching questions; `endings` are the results of the system's battles."""
        words = filter_.words.casefold().split()
        result = filter_.result
        met = {end.question for end in endings if result is None or RESULTS[end.preference] is result}
        return sort_questions(
            [
                question
                for question, text in zip(self.questions, self.haystack, strict=True)
                if (filter_.domain is None or question.domain == filter_.domain)
                and (filter_.system is None or question.id in met)
                and (filter_.winner is None or question.winner == filter_.winner)
                and all(word in text for word in words)
                and (filter_.trait is None or COUNTS[filter_.trait](question) > 0)
            ],
            order,
        )


class QuestionListService:
    """Search for questions; caches the lists of recent published boards, which never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache: OrderedDict[str, QuestionList] = OrderedDict()

    def of(self, round_name: str, *, caller: Caller = PUBLIC) -> QuestionList:
        """Return all questions of a round."""
        round_ = self._store.rounds.get(round_name)
        texts = RoundAccess(self._store, caller, round_).texts
        board = self._store.boards.standing(round_.id)
        if board is None or not texts.sees_questions:
            lines = texts.redact_lines(self._store.question_stats.of_round(round_.id))
            return QuestionList.of(lines, notice=texts.notice)
        name = f"{round_.id} {board}"
        questions = self._cache.get(name)
        if questions is None:
            questions = self._cache[name] = QuestionList.of(self._store.question_stats.of_round(round_.id))
            while len(self._cache) > CACHE_SIZE:
                self._cache.popitem(last=False)
        return replace(questions, notice=texts.notice)

    def page(
        self,
        round_name: str,
        filter_: QuestionFilter,
        order: Order = Order.SET,
        *,
        after: int = 0,
        limit: int = 100,
        caller: Caller = PUBLIC,
    ) -> RoundQuestionPage:
        """Return up to `limit` matching questions after the first `after`."""
        questions = self.of(round_name, caller=caller)
        self._check_names(round_name, filter_, caller)
        following = after + limit
        matching = questions.matching(filter_, order=order)
        return RoundQuestionPage(
            questions=matching[after:following],
            next=following if len(matching) > following else None,
            total=len(matching),
            notice=questions.notice,
        )

    def _check_names(self, round_name: str, filter_: QuestionFilter, caller: Caller) -> None:
        """Refuse unknown domains and winners."""
        access = RoundAccess(self._store, caller, self._store.rounds.get(round_name))
        if filter_.domain not in {None, *access.texts.domains}:
            advice = f"The domains are: {', '.join(access.texts.domains)}."
            raise InputError(f"The round {round_name} has no domain {filter_.domain!r}.", advice=advice)
        if filter_.winner not in {None, *access.entrants}:
            advice = f"The systems are: {', '.join(sorted(access.entrants))}."
            message = f"Round {round_name} has no system {filter_.winner!r}."
            raise InputError(message, advice=advice)

    def endings(
        self, round_name: str, system: str, opponent: str | None, *, caller: Caller = PUBLIC
    ) -> tuple[BattleResult, ...]:
        """Return the results of a system's battles, against one opponent if any."""
        RoundAccess(self._store, caller, self._store.rounds.get(round_name))
        return self._store.question_stats.endings(round_name, system, opponent)


def sort_questions(questions: Sequence[QuestionStats], order: Order) -> tuple[QuestionStats, ...]:
    """Sort questions; the sort is stable."""
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
