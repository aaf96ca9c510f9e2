"""A trained cheap judge is a value that can be read, kept, and applied where it belongs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from data.errors import InputError, RecordError, StatisticsError
from leaderboard.sampling.cheap_judge import TrainedJudge, predicted_shares, train

NAMES = ("length", "closeness", "noise")


def trained(seed: int = 1, judged: int = 200) -> tuple[TrainedJudge, np.ndarray, np.ndarray]:
    """A classifier whose second feature decides, against the first; with features and outcomes."""
    random = np.random.default_rng(seed)
    features = random.normal(0, [1.0, 20.0, 3.0], (300, 3))
    odds = features @ [-0.5, 0.1, 0.0]
    verdicts = (random.random(300) < 1 / (1 + np.exp(-odds))).astype(float)
    paid = np.where(np.arange(300) < judged, verdicts, np.nan)
    return train(features, paid, names=NAMES, set_name="demo", judge="gpt"), features, verdicts


def test_coefficients_say_what_decides() -> None:
    """Coefficients have names, are per standard deviation, and have the sign of what the verdicts favour."""
    judge, *_ = trained()
    weights = dict(zip(judge.features, judge.coefficients, strict=True))
    assert weights["closeness"] > 1
    assert weights["length"] < -0.2
    assert abs(weights["noise"]) < 0.3
    assert (judge.set_name, judge.judge, judge.verdicts) == ("demo", "gpt", 200)


def test_a_saved_classifier_predicts_the_same() -> None:
    """As JSON and back, nothing changes."""
    judge, features, _ = trained()
    saved = TrainedJudge.from_json(json.loads(json.dumps(judge.as_json())))
    assert saved == judge
    assert np.array_equal(saved.shares(features, "demo"), judge.shares(features, "demo"))


def test_it_predicts_battles_that_it_has_not_seen() -> None:
    """On battles without a verdict it is right far more often than by chance, and mirrors with the sides."""
    judge, features, verdicts = trained()
    shares = judge.shares(features, "demo")
    assert ((shares > 0.5) == (verdicts > 0.5))[200:].mean() > 0.75
    assert judge.shares(-features, "demo") == pytest.approx(1 - shares)
    crossed = predicted_shares(
        features, np.where(np.arange(300) < 200, verdicts, np.nan), np.arange(300, dtype=np.int32)
    )
    assert np.corrcoef(crossed, shares)[0, 1] > 0.98


def test_it_is_not_applied_to_another_set_unawares() -> None:
    """Another set is refused by name, unless whoever asks says so."""
    judge, features, _ = trained()
    with pytest.raises(InputError, match="trained on demo, and these battles are of lfrqa"):
        judge.shares(features, "lfrqa")
    assert np.isfinite(judge.shares(features, "lfrqa", elsewhere=True)).all()


def test_what_is_no_classifier_is_refused() -> None:
    """Lost fields, other numbers of features, and no verdicts at all are errors."""
    judge, features, _ = trained()
    fields = dict(judge.as_json())
    with pytest.raises(RecordError, match="3 features have 1"):
        TrainedJudge.from_json({**fields, "coefficients": [0.5]})
    with pytest.raises(RecordError, match="no trained classifier"):
        TrainedJudge.from_json({key: fields[key] for key in ("features", "scales")})
    with pytest.raises(InputError, match="3 features, the battles 2"):
        judge.shares(features[:, :2], "demo")
    with pytest.raises(InputError, match="differ"):
        train(features, np.ones(3), names=NAMES, set_name="demo", judge="gpt")
    with pytest.raises(StatisticsError, match="no verdicts"):
        train(features, np.full(300, np.nan), names=NAMES, set_name="demo", judge="gpt")
