"""The difference of two systems of a battle file: its interval, and what carries it."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.services.battle_files import compare_in_file
from leaderboard.vocabulary import IntervalKind


@pytest.mark.parametrize(("questions", "resampled"), [(3, False), (40, True)])
def test_compare_says_where_its_interval_is_from(tmp_path: Path, questions: int, *, resampled: bool) -> None:
    """Resamples unless few questions carry the difference or t is asked for; in domains as overall."""
    lines = ["question_id,domain,model_a,model_b,winner"]
    for question in range(questions):
        lines += [
            f"q{question},d,x,y,{'model_a' if (at + question) % 5 > 1 + question % 2 else 'model_b'}"
            for at in range(7)
        ]
    path = tmp_path / "battles.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found, notes = compare_in_file(path, "x", "y", bootstrap=100, seed=1)
    asked, _ = compare_in_file(path, "x", "y", interval=IntervalKind.SANDWICH, bootstrap=100, seed=1)
    kind = IntervalKind.BOOTSTRAP if resampled else IntervalKind.SANDWICH
    assert (found["interval"], asked["interval"]) == (kind, IntervalKind.SANDWICH)
    assert found["questions"] == questions
    domains = found["by_domain"]
    assert isinstance(domains, dict)
    assert domains["d"]["interval"] == kind
    assert notes == ()
