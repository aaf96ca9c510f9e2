"""`arena questions`, and the same for agents."""

from __future__ import annotations

import pytest

from arena.container import Arena
from arena.mcp.server import Tools
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


def test_command_finds_words_in_all_texts(on_board: Commands) -> None:
    """It says how many questions have the words, where, and shows the text around them."""
    code, out, err = on_board("questions", "search", "tiny", "beta grams")
    assert (code, err) == (0, "")
    assert "2 of 2 questions." in out
    assert "q1: reference, answers of full" in out
    found = on_board.json("questions", "search", "tiny", "beta grams", "--sort", "spread", "--json")
    assert found["total"] == 2
    assert {one["id"] for one in found["questions"]} == {"q1", "q7"}
    assert all("beta" in one["found"]["excerpt"] for one in found["questions"])


def test_command_lists_every_question_without_words(on_board: Commands) -> None:
    """Without words the whole list comes, in the order and of the winner that were asked for."""
    found = on_board.json("questions", "search", "tiny", "--sort", "closest", "--json")
    margins = [one["margin"] for one in found["questions"]]
    assert found["total"] == len(margins) == 12
    assert margins == sorted(margins)
    assert all(one["found"] is None for one in found["questions"])
    won = on_board.json("questions", "search", "tiny", "--winner", "full", "--json")
    assert won["total"] == sum(one["winner"] == "full" for one in found["questions"]) > 0


def test_command_refuses_words_that_every_text_has(on_board: Commands) -> None:
    """It says in one sentence that there is nothing to search for, or nothing found, and what to do."""
    code, _, err = on_board("questions", "search", "tiny", "of the")
    assert code == 1
    assert "no word to search for" in err
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
    code, _, again = on_board("questions", "search", "tiny", "beta grams", *option)
    assert (code, again) == (1, err)


def test_agents_search_in_all_texts(published: Settings) -> None:
    """The tool says in whose texts the words are, and shows the text around them as untrusted."""
    arena = Arena(published)
    found = Tools(arena).search_questions("tiny", search="beta grams")
    assert [one["id"] for one in found["questions"]] == ["q1", "q7"]
    places = found["questions"][0]["found"]
    assert (places["in_reference"], places["systems"]) == (True, ["full", "hostile"])
    assert "beta" in places["excerpt"]["untrusted_text"]
    arena.close()
