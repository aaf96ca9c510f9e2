"""`arena questions`."""

from __future__ import annotations

import pytest

from arena.settings import Settings
from tests.arena.conftest import Commands


@pytest.fixture
def on_board(run: Commands, published: Settings, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Commands over the arena with the board `tiny`."""
    prepare = run.prepare

    def over_board(endpoint: str) -> None:
        prepare(endpoint)
        monkeypatch.setenv("ARENA_DATABASE_URL", published.database_url)

    monkeypatch.setattr(run, "prepare", over_board)
    return run


def test_command_lists_every_question_without_words(on_board: Commands) -> None:
    """Without words the whole list comes, in the order and of the winner that were asked for."""
    found = on_board.json("questions", "search", "tiny", "--sort", "closest", "--json")
    margins = [one["margin"] for one in found["questions"]]
    assert found["total"] == len(margins) == 12
    assert margins == sorted(margins)
    won = on_board.json("questions", "search", "tiny", "--winner", "full", "--json")
    assert won["total"] == sum(one["winner"] == "full" for one in found["questions"]) > 0


def test_search_filters_questions_by_words(on_board: Commands) -> None:
    """Words must be part of the question or its id; without a match it says what to do."""
    found = on_board.json("questions", "search", "tiny", "ITEM q7", "--json")
    assert [one["id"] for one in found["questions"]] == ["q7"]
    code, _, err = on_board("questions", "search", "tiny", "xylophone")
    assert code == 0
    assert "No question matches" in err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--winner", "nobody"), "No system 'nobody' can win a question of the round tiny."),
        (("--winner", "human"), "There are: full, hostile, short. A reference wins none."),
        (("--domain", "d9"), "The round tiny has no domain 'd9'."),
        (("--domain", "D0"), "There are: d0, d1, d2."),
    ],
)
def test_command_refuses_names_that_the_round_has_not(
    on_board: Commands, option: tuple[str, str], message: str
) -> None:
    """A winner or a domain that cannot match is no empty result: the command fails and says what there is."""
    code, out, err = on_board("questions", "search", "tiny", *option)
    assert (code, out) == (1, "")
    assert message in err
    code, _, again = on_board("questions", "search", "tiny", "item", *option)
    assert (code, again) == (1, err)
