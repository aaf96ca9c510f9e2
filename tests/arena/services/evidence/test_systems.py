from __future__ import annotations

from contextlib import closing

import pytest

from arena.container import Arena
from arena.services.evidence.systems import LossShares, QuestionKind, loss_shares, question_kind
from data.errors import InputError
from leaderboard.battles import BattleTable
from tests.served import published


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How do vaccines work?", QuestionKind.HOW),
        ("“Why is the sky blue?”", QuestionKind.WHY),
        ("What’s the Oxford comma?", QuestionKind.WHAT),
        ("WHEN was it built?", QuestionKind.WHICH),
        ("Should I stretch?", QuestionKind.YES_NO),
        ("My compost heap stinks.", QuestionKind.OTHER),
        ("", QuestionKind.OTHER),
        ("q7 (text not public)", QuestionKind.OTHER),
    ],
)
def test_question_kind_follows_first_word(question: str, kind: QuestionKind) -> None:
    assert question_kind(question) is kind


def test_every_battle_is_counted_once_in_each_grouping() -> None:
    rows = [
        ("q1", "d0", "own", "ref", "model_b"),
        ("q1", "d0", "x", "own", "model_a"),
        ("q2", "d1", "own", "ref", "tie"),
        ("q2", "d1", "own", "x", "model_a"),
    ]
    table = BattleTable.from_columns(*(list(column) for column in zip(*rows, strict=True)))
    losses = loss_shares(table, "own", {"q1": "How?", "q2": "Why?"}, "ref")
    for shares in (losses.domains, losses.kinds, losses.opponents):
        assert sum(share.battles for share in shares) == len(rows)
        assert sum(share.lost for share in shares) == 2
        assert [share.share for share in shares] == sorted((share.share for share in shares), reverse=True)
        assert all(share.interval is not None and share.share in share.interval for share in shares)
    assert [(share.name, share.share) for share in losses.domains] == [("d0", 1.0), ("d1", 0.0)]
    assert [share.name for share in losses.kinds] == ["How …", "Why …"]
    assert losses.field is not None
    assert (losses.field.battles, losses.field.win_tie_rate) == (2, 0.5)


def test_grouping_without_battles_has_no_share() -> None:
    table = BattleTable.from_columns(["q1"], ["d"], ["a"], ["b"], ["tie"])
    assert loss_shares(table.select([False]), "a", {}, "b") == LossShares()  # type: ignore[arg-type]  # a list will do


def test_comparison_lists_contested_questions() -> None:
    with closing(Arena(published())) as arena:
        comparison = arena.systems.compare("tiny", ["full", "short", "human"])
        for systems in (["full"], ["full", "full"], ["a", "b", "c", "d", "e"]):
            with pytest.raises(InputError, match="two to four"):
                arena.systems.compare("tiny", systems)
    assert list(comparison.paired) == ["short", "human"]
    assert [row.domain for row in comparison.paired["short"]] == ["overall", "d0", "d1", "d2"]
    spreads = [max(row.shares.values()) - min(row.shares.values()) for row in comparison.questions]
    assert spreads == sorted(spreads, reverse=True)
    assert set(comparison.questions[0].shares) == {"full", "short", "human"}
