"""From a request to the items of a task: the candidates, the draw with its chances, the gold items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from arena.services.annotation.requests import MOST_ITEMS, ChosenItem, TaskRequest
from data.errors import InputError, NotFoundError
from data.records import DrawKind, NewItem, Preference, Question, Submission
from data.store import Store
from data.store.annotation.frames import FrameBattle
from leaderboard.sampling.chances import Drawn, draw_by_domain, draw_by_doubt, draw_uniformly


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What may be drawn; `doubt` is how unsure the judge is, 0–1."""

    item: NewItem
    domain: str
    doubt: float = 1.0


class Frame:
    """The questions and systems that a request may name.

    Raises:
        NotFoundError: There is no such set or round.
        InputError: The set hides the reference that is to be shown.
    """

    def __init__(self, store: Store, request: TaskRequest) -> None:
        self._store, self._request = store, request
        self.round = store.rounds.get(request.round_name) if request.round_name else None
        self.set_name = self.round.set_name if self.round else request.set_name
        self.summary = store.sets.summary(self.set_name)
        reference = store.submissions.reference(self.set_name)
        self._known: dict[str, Submission] = {
            side.system: side for side in store.submissions.find(set_name=self.set_name, newest=True)
        }
        self._known[reference.system] = reference
        self._reference = reference
        self._questions: Mapping[int, Question] = dict(store.sets.numbered(self.summary.id))
        self._numbers = {question.id: number for number, question in self._questions.items()}
        self._hidden = store.policies.get(self.set_name).hidden_references
        if self._hidden and request.shows_reference:
            raise InputError("The set hides its references.", advice="Open the task without them.")

    def items(self) -> list[NewItem]:
        """The items of the task in the order in which people get them, gold ones spread among them.

        Raises:
            NotFoundError: A named system or question does not exist.
            InputError: There is nothing to label, or more than a task may hold.
        """
        candidates = self._candidates()
        if not candidates and self._request.writes:
            message = f"No question of {self.set_name} has passages, so no reference can be written."
            raise InputError(message, advice="Attach passages first: `arena sets attach`.")
        if not candidates:
            raise InputError("There is nothing to label.", advice="Choose other systems, questions or pairs.")
        if self._request.shows_reference and any(
            self._reference.id in {candidate.item.a, candidate.item.b} for candidate in candidates
        ):
            raise InputError(
                "A reference beside its own text would tell whose answer it is.",
                advice="Do not show the reference, or leave it out of the pairs.",
            )
        drawn = self._draw(candidates)
        if len(drawn.taken) > MOST_ITEMS:
            raise InputError(
                f"A task cannot hold {len(drawn.taken):,} items.",
                advice=f"Draw {MOST_ITEMS:,} at most.",
            )
        by_hand = bool(self._request.chosen) and self._request.count is None
        items = [
            replace(candidates[place].item, chance=None if by_hand else float(chance))
            for place, chance in zip(drawn.taken, drawn.sampling_prob, strict=True)
        ]
        gold = [replace(self._named(item), gold=item.gold) for item in self._request.gold]
        return self._spread(items, gold)

    def _spread(self, items: list[NewItem], gold: list[NewItem]) -> list[NewItem]:
        random = np.random.default_rng(self._request.seed + 2)
        places = np.sort(random.integers(0, len(items) + 1, size=len(gold)))
        for shift, (place, item) in enumerate(zip(places, gold, strict=True)):
            items.insert(int(place) + shift, item)
        return items

    def _draw(self, candidates: Sequence[Candidate]) -> Drawn:
        request = self._request
        count = len(candidates) if request.count is None else request.count
        match request.draw:
            case DrawKind.DOMAIN:
                return draw_by_domain([candidate.domain for candidate in candidates], count, request.seed)
            case DrawKind.DOUBT:
                return draw_by_doubt(
                    np.array([candidate.doubt for candidate in candidates]), count, request.seed
                )
            case _ if request.chosen and request.count is None:
                return Drawn(taken=np.arange(count), sampling_prob=np.ones(count))
            case _:
                return draw_uniformly(len(candidates), count, request.seed)

    def _candidates(self) -> list[Candidate]:
        request = self._request
        if request.chosen:
            return [self._candidate(self._named(item)) for item in request.chosen]
        if self.round is not None:
            return [
                Candidate(
                    item=NewItem(question=battle.question, a=battle.a, b=battle.b),
                    domain=battle.domain,
                    doubt=doubt_of(battle),
                )
                for battle in self._store.frames.battles(self.round.name)
                if not (self._hidden and self._reference.id in {battle.a, battle.b})
            ]
        found = self._asked() if request.writes else self._pairs()
        return [self._candidate(item) for item in found]

    def _candidate(self, item: NewItem) -> Candidate:
        return Candidate(item=item, domain=self._questions[item.question].domain)

    def _pairs(self) -> Iterator[NewItem]:
        sides = [self._side(name) for name in dict.fromkeys(self._request.systems)]
        answered = {side.id: self._store.submissions.answered(side.id) for side in sides}
        for question in self._questions:
            for a, b in combinations(sides, 2):
                if question in answered[a.id] and question in answered[b.id]:
                    yield NewItem(question=question, a=a.id, b=b.id)

    def _asked(self) -> Iterator[NewItem]:
        """Each question with passages, for a reference that people write."""
        return (NewItem(question=number) for number, question in self._questions.items() if question.passages)

    def _named(self, chosen: ChosenItem) -> NewItem:
        number = self._numbers.get(chosen.question_id)
        if number is None:
            raise NotFoundError(
                f"Question set {self.set_name} has no question {chosen.question_id!r}.",
                advice=f"`arena sets show {self.set_name}` lists its questions.",
            )
        a, b = self._side(chosen.system_a), self._side(chosen.system_b)
        if a.id == b.id:
            raise InputError(f"{a.system} cannot be paired with itself.", advice="Name two systems.")
        for side in (a, b):
            if number not in self._store.submissions.answered(side.id):
                raise InputError(
                    f"{side.system} does not answer question {chosen.question_id}.",
                    advice="Leave this pair out.",
                )
        return NewItem(question=number, a=a.id, b=b.id)

    def _side(self, system: str) -> Submission:
        if system not in self._known:
            raise NotFoundError(
                f"{system or 'A system without a name'} has no answers.",
                advice=f"There are: {', '.join(self._known)}.",
            )
        if self._hidden and system == self._reference.system:
            raise InputError("The set hides its references.", advice="Choose systems without the reference.")
        return self._known[system]


def doubt_of(battle: FrameBattle) -> float:
    """How unsure the judge is of a battle: 1 for a tie, a flip or no verdict, 0 for a clear side.

    In between are its score's distance from an even one, or else its margin.
    """
    if battle.preference in {None, Preference.TIE} or battle.flipped:
        return 1.0
    if battle.score is not None:
        return 1.0 - abs(2.0 * battle.score - 1.0)
    return 0.0 if battle.margin is None else 1.0 - abs(battle.margin)
