import pytest

from data.steering.rules import look_of
from data.system_names import confusable_skeleton
from tests.cases import cases


@pytest.mark.parametrize(("one", "other"), cases(__file__, "texts_that_look_alike_share_a_key"))
def test_texts_that_look_alike_share_a_key(one: str, other: str) -> None:
    assert confusable_skeleton(one) == confusable_skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1.5", "15"), ("run-2", "run-3"), ("naive", "native"), ("a b", "ab")]
)
def test_texts_that_look_different_have_keys_of_their_own(one: str, other: str) -> None:
    assert confusable_skeleton(one) != confusable_skeleton(other)


@pytest.mark.parametrize(
    ("character", "look"), [("ᐸ", "<"), ("Ꭱ", "R"), ("ꓠ", "N"), ("١", "1"), ("漢", "漢")]
)
def test_a_character_of_another_script_has_the_look_of_a_latin_one(character: str, look: str) -> None:
    assert look_of(character) == look
