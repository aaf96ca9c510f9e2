"""A classifier trained on verdicts already paid for: what a cheap judge makes of every other battle."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError
from scipy.special import expit

from data.errors import InputError, RecordError, StatisticsError
from data.records.plain import to_json
from leaderboard.sampling.recalibration import folds_of

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

Floats = NDArray[np.float64]

_WORD = re.compile(r"\w+")

FEATURES = ("length", "yardstick", "question", "novelty", "sentences", "numbers")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTexts:
    """A battle's texts: what the cheap judge looks at.

    Attributes:
        question: The question.
        answer_a: Side a's answer.
        answer_b: Side b's answer.
        yardstick: Reference or passages; empty where there are none.
    """

    question: str
    answer_a: str
    answer_b: str
    yardstick: str = ""


def pair_features(pairs: Sequence[PairTexts]) -> Floats:
    """(battles, features) of a less those of b, so that swapping sides changes every sign.

    Log length in words, idf-weighted cosine with the yardstick and with the question, share of the
    answer's idf weight that is outside the yardstick, log sentences, log numbers.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - takes seconds to load

    if not pairs:
        return np.zeros((0, len(FEATURES)))
    texts = [text for pair in pairs for text in (pair.answer_a, pair.answer_b, pair.question, pair.yardstick)]
    vectorizer = TfidfVectorizer(sublinear_tf=True, tokenizer=_WORD.findall, token_pattern=None)
    # A corpus of nothing but empty texts has no vocabulary; one dummy word keeps the shape.
    vectors = vectorizer.fit([*texts, "answer"]).transform(texts)
    of_a, of_b, question, yardstick = (vectors[start::4] for start in range(4))
    sides = []
    for side, answers in ((of_a, [p.answer_a for p in pairs]), (of_b, [p.answer_b for p in pairs])):
        inside = side.multiply(yardstick > 0).sum(axis=1)
        totals = np.maximum(np.asarray(side.sum(axis=1)), 1e-12)
        columns = [
            np.array([math.log1p(len(answer.split())) for answer in answers]),
            np.asarray(side.multiply(yardstick).sum(axis=1)).ravel(),
            np.asarray(side.multiply(question).sum(axis=1)).ravel(),
            (1 - np.asarray(inside) / totals).ravel(),
            np.array([math.log1p(sum(answer.count(mark) for mark in ".!?")) for answer in answers]),
            np.array([math.log1p(sum(c.isdigit() for c in answer)) for answer in answers]),
        ]
        sides.append(np.column_stack(columns))
    return np.asarray(sides[0] - sides[1], dtype=np.float64)


def predicted_shares(
    features: Floats,
    verdicts: Floats,
    questions: NDArray[np.int32],
    *,
    folds: int = 5,
    seed: int = 0,
) -> Floats:
    """Share of the win that side a is predicted to get, never from verdicts on the same question.

    A logistic regression without intercept on antisymmetric features: it does not care which answer is
    named first. A tie, or a soft verdict, counts towards both sides.

    Args:
        features: (N, F) of a less those of b, for instance `pair_features`, or the lexical judge's
            margin as a further column.
        verdicts: (N,) shares of side a from the expensive judge; NaN where not judged.
        questions: (N,) codes of the questions.
        folds: Groups of questions; each group is predicted from the others.
        seed: Of the division into groups.

    Raises:
        InputError: Lengths differ.
        StatisticsError: Some group of questions has no verdicts outside of it.
    """
    if not len(features) == len(verdicts) == len(questions):
        message = f"{len(features)} features, {len(verdicts)} verdicts, {len(questions)} questions differ."
        raise InputError(message, advice="Give one of each for every battle.")
    scale = features.std(axis=0)
    scaled = features / np.where(scale > 0, scale, 1.0)
    group = folds_of(questions, folds, seed)
    judged = np.isfinite(verdicts)
    shares = np.empty(len(features))
    for fold in range(folds):
        train, test = judged & (group != fold), group == fold
        if test.any():
            shares[test] = fitted(scaled[train], verdicts[train]).predict_proba(scaled[test])[:, 1]
    return shares


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedJudge:
    """A classifier as a value: what a round stores beside its verdicts, and anybody can read.

    Attributes:
        features: Names, each of a less b.
        coefficients: Log-odds of a's win by a standard deviation of each feature.
        scales: Standard deviations of the features on the set that it was trained on.
        set_name: That set.
        judge: Whose verdicts it was trained on.
        verdicts: How many.
    """

    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    scales: tuple[float, ...]
    set_name: str
    judge: str
    verdicts: int

    def shares(self, features: Floats, set_name: str, *, elsewhere: bool = False) -> Floats:
        """Share of the win that side a is predicted to get.

        Where a battle's own verdict, or another on its question, was trained on, this is too sure of
        itself: use `predicted_shares` for these.

        Args:
            features: (N, F) as those trained on.
            set_name: The set that the battles are of.
            elsewhere: Apply it to another set than it was trained on; whoever shows a result says so.

        Raises:
            InputError: The set is another one and `elsewhere` is not said, or features differ in number.
        """
        if set_name != self.set_name and not elsewhere:
            message = f"The classifier was trained on {self.set_name}, and these battles are of {set_name}."
            advice = "Train one on verdicts of this set, or say that it is applied elsewhere."
            raise InputError(message, advice=advice)
        if features.shape[1] != len(self.features):
            message = f"The classifier has {len(self.features)} features, the battles {features.shape[1]}."
            raise InputError(message, advice=f"Give {', '.join(self.features)}.")
        odds = features / np.array(self.scales) @ np.array(self.coefficients)
        return np.asarray(expit(odds), dtype=np.float64)

    def as_json(self) -> dict[str, object]:
        """Every field, for a file; `from_json` reads it."""
        return to_json(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, object]) -> TrainedJudge:
        """Read what `as_json` wrote.

        Raises:
            RecordError: A field is missing or of another kind, or their lengths differ.
        """
        try:
            # Validation alone: lists of numbers become tuples, and what is no number is refused.
            judge: TrainedJudge = TypeAdapter(cls).validate_python(dict(fields))
        except ValidationError as error:
            message = f"This is no trained classifier: {error.errors()[0]['msg']}."
            raise RecordError(message, advice="Give the file as it was saved.") from error
        if not len(judge.features) == len(judge.coefficients) == len(judge.scales):
            message = f"{len(judge.features)} features have {len(judge.coefficients)} coefficients."
            raise RecordError(message, advice="Give the file as it was saved.")
        return judge


def train(
    features: Floats, verdicts: Floats, *, names: Sequence[str] = FEATURES, set_name: str, judge: str
) -> TrainedJudge:
    """Train a classifier on all verdicts paid for.

    Args:
        features: (N, F) of a less those of b.
        verdicts: (N,) shares of side a; NaN where not judged.
        names: (F,) of the features.
        set_name: The set of the battles.
        judge: Whose verdicts they are.

    Raises:
        InputError: Names or verdicts differ in number from the features.
        StatisticsError: There is no verdict.
    """
    if features.shape != (len(verdicts), len(names)):
        message = f"{features.shape} features, {len(verdicts)} verdicts and {len(names)} names differ."
        raise InputError(message, advice="Give a name for each feature and a verdict for each battle.")
    deviation = features.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    judged = np.isfinite(verdicts)
    model = fitted(features[judged] / scale, verdicts[judged])
    return TrainedJudge(
        features=tuple(names),
        coefficients=tuple(model.coef_[0].tolist()),
        scales=tuple(scale.tolist()),
        set_name=set_name,
        judge=judge,
        verdicts=int(judged.sum()),
    )


def fitted(features: Floats, shares: Floats) -> LogisticRegression:
    """A regression on battles; each verdict stands for itself and, with the sides swapped, for its mirror.

    Raises:
        StatisticsError: There are no verdicts.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - as above

    if not len(shares):
        message = "There are no verdicts to train a classifier on."
        raise StatisticsError(message, advice="Judge more questions first, or use the lexical judge.")
    rows = np.vstack([features, -features, features, -features])
    outcomes = np.repeat([1, 0, 0, 1], len(shares))
    weights = np.concatenate([shares, shares, 1 - shares, 1 - shares])
    model = LogisticRegression(fit_intercept=False, C=1.0)
    model.fit(rows[weights > 0], outcomes[weights > 0], sample_weight=weights[weights > 0])
    return model
