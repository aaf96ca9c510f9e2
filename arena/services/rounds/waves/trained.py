"""A classifier trained on the verdicts of another, finished round, as a cheap judge of a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.services.rounds.battle_table import shares_in
from data.errors import ConflictError
from data.records import CheapVerdict, Outcome, PendingBattle, PlannedBattle, Question, RoundState
from data.store import Store
from leaderboard.sampling.cheap_judge import FEATURES, PairTexts, pair_features
from leaderboard.sampling.classifier import Classifier, train

Floats = NDArray[np.float64]
FINISHED = (RoundState.FINISHED, RoundState.PUBLISHED)


def classifier_of(store: Store, round_name: str) -> Classifier:
    """Train a classifier on the verdicts of a round.

    Raises:
        NotFoundError: There is no such round.
        ConflictError: It is not finished.
        StatisticsError: It has too few verdicts.
    """
    round_ = store.rounds.get(round_name)
    if round_.state not in FINISHED:
        raise ConflictError(
            f"Round {round_name} is {round_.state}, so its verdicts may still change.",
            advice="Train on a finished round, or on verdicts of the new round with `trained`.",
        )
    verdicts, texts = shares_in(store.verdicts.columns(round_name)), list(store.waves.texts(round_.id))
    numbers = store.waves.arrays(round_.id, 0).numbers
    places = np.searchsorted(numbers, [battle.id for battle in texts])
    return train(
        pair_features([pair_texts(battle) for battle in texts]),
        FEATURES,
        verdicts[places],
        trained_on=round_.name,
        set_name=round_.set_name,
    )


def predictions(
    store: Store, set_name: str, fields: Mapping[str, object], battles: Sequence[PlannedBattle]
) -> dict[str, CheapVerdict]:
    """What a stored classifier says of battles of a set, by their keys.

    Args:
        store: Where questions and answers are.
        set_name: The set of the battles.
        fields: The classifier, as `Classifier.as_json` gives it.
        battles: The battles; those that lack an answer are left out.
    """
    classifier = Classifier.from_json(fields)
    asked = [battle for battle in battles if battle.outcome is None]
    if not asked:
        return {}
    questions: Mapping[int, Question] = dict(store.sets.numbered(store.sets.summary(set_name).id))
    reference = store.submissions.reference(set_name).id
    answers = store.submissions.texts(
        [(side, battle.question) for battle in asked for side in (battle.a, battle.b)]
    )
    features = pair_features(
        [
            PairTexts(
                question=questions[battle.question].question,
                answer_a=answers[battle.a, battle.question],
                answer_b=answers[battle.b, battle.question],
                yardstick=_yardstick(questions[battle.question], known=reference not in (battle.a, battle.b)),
            )
            for battle in asked
        ]
    )
    return {
        battle.key: CheapVerdict(outcome=Outcome.JUDGED, share=float(share))
        for battle, share in zip(asked, classifier.shares(features), strict=True)
    }


def pair_texts(battle: PendingBattle) -> PairTexts:
    """A stored battle as the classifier reads it."""
    return PairTexts(
        question=battle.question.question,
        answer_a=battle.answer_a,
        answer_b=battle.answer_b,
        yardstick=_yardstick(battle.question, known=battle.reference_side is None),
    )


def _yardstick(question: Question, *, known: bool) -> str:
    """The reference, where it is no opponent, else the passages."""
    reference = question.reference if known else None
    return reference or " ".join(passage.text for passage in question.passages)
