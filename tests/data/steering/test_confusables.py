import pytest

from data.steering.rules import look_of
from data.system_names import confusable_skeleton
from tests.cases import cases


@pytest.mark.parametrize(("text", "other"), cases(__file__, "texts_that_look_alike_share_key"))
def test_texts_that_look_alike_share_key(text: str, other: str) -> None:
    assert confusable_skeleton(text) == confusable_skeleton(other)


@pytest.mark.parametrize(
    ("text", "other"), [("1.5", "15"), ("run-2", "run-3"), ("naive", "native"), ("a b", "ab")]
)
def test_texts_that_look_different_have_different_keys(text: str, other: str) -> None:
    assert confusable_skeleton(text) != confusable_skeleton(other)


@pytest.mark.parametrize(
    ("character", "look"), [("ᐸ", "<"), ("Ꭱ", "R"), ("ꓠ", "N"), ("١", "1"), ("漢", "漢")]
)
def test_look_of_maps_other_scripts_to_latin(character: str, look: str) -> None:
    assert look_of(character) == look
