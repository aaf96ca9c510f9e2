import pytest

from data.errors import NotFoundError, RecordError
from data.models import Json, Outcome, Score
from judges.metrics.registry import build_metric, metric_info, metrics


def test_every_metric_has_a_name_of_its_own() -> None:
    names = [info.name for info in metrics()]
    assert len(set(names)) == len(names)
    assert all(metric_info(name).name == name for name in names)


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="comprehensiveness-nli"):
        build_metric("comprehensivness")


@pytest.mark.parametrize(
    ("outcome", "score", "details"),
    [
        (Outcome.JUDGED, None, {}),
        (Outcome.FAILED, 0.0, {"reason": "x"}),
        (Outcome.JUDGED, float("nan"), {}),
        (Outcome.UNREADABLE, None, {}),
    ],
)
def test_a_score_is_there_exactly_when_it_was_judged(
    outcome: Outcome, score: float | None, details: dict[str, Json]
) -> None:
    with pytest.raises(RecordError):
        Score(id="1", metric="m", outcome=outcome, score=score, details=details)
