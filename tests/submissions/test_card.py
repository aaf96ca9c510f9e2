"""System cards of teams."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.errors import FileFormatError, InvalidFileError
from data.models import SystemCard
from submissions.card import CARD_TEMPLATE, check_card, check_fields, load_card
from tests.cases import cases

CARD = """\
model: "Mixtral 8x7B"
retriever: ColBERTv2
passages: 5 of LFRQA's corpus
organisation: Ångström Lab
link: https://example.org/system?id=1
notes: |
  Two lines
  of notes.
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "card.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_card_is_read(tmp_path: Path) -> None:
    card = load_card(write(tmp_path, CARD))
    assert (card.model, card.passages) == ("Mixtral 8x7B", "5 of LFRQA's corpus")
    assert (card.organisation, card.notes, card.contact) == ("Ångström Lab", "Two lines\nof notes.", "")


@pytest.mark.parametrize("text", ["# nothing yet\n", "model:\nlink: null\n", CARD_TEMPLATE])
def test_empty_card_is_valid(text: str, tmp_path: Path) -> None:
    assert load_card(write(tmp_path, text)) == SystemCard()


BAD = {
    **cases(__file__, "BAD"),
    "long": (f"model: {'x' * 201}\n", [[1, "too-long"]]),
    "long notes": (f"notes: {'x' * 2001}\n", [[1, "too-long"]]),
    "deep": ("model: " + "[" * 5_000, [[0, "bad-yaml"]]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD.keys())
def test_all_problems_of_card_are_listed(text: str, expected: list[list[int | str]], tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_card(write(tmp_path, text))
    assert [[problem.line, problem.code] for problem in caught.value.problems] == expected
    assert check_card(text) == (None, caught.value.problems)


@pytest.mark.parametrize("content", [b"", b"\xff\xfem\x00", b"model: \xe9\n", b"model: " + b"x" * 70_000])
def test_binary_card_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError):
        load_card(write(tmp_path, content))


def test_form_is_checked_by_field() -> None:
    card, wrong = check_fields({"model": " llm ", "link": "javascript:alert(1)", "notes": "n" * 2_001})
    assert card is None
    assert {name: [problem.code for problem in problems] for name, problems in wrong.items()} == {
        "link": ["bad-link"],
        "notes": ["too-long"],
    }
    assert check_fields({"model": " llm ", "link": "https://example.org"}) == (
        SystemCard(model="llm", link="https://example.org"),
        {},
    )
    assert set(check_fields({"color": "red"})[1]) == {"color"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open_weights: true\nparameters: 7.5b\nreleased: 2026-05-01\n", ("yes", "7.5B", "2026-05-01")),
        ("open_weights: 'No'\nparameters: 124000000\nreleased: 2026\n", ("no", "124000000", "2026")),
        ("open_weights: yes\nparameters: '300 M'\nreleased: '2026-05'\n", ("yes", "300M", "2026-05")),
        ("open_weights:\nparameters: ''\nreleased: ~\n", ("", "", "")),
    ],
)
def test_typed_card_fields_parse_with_or_without_quotes(text: str, expected: tuple[str, str, str]) -> None:
    card, problems = check_card(text)
    assert not problems
    assert card is not None
    assert (card.open_weights, card.parameters, card.released) == expected


def test_oversized_card_is_refused_unparsed() -> None:
    card, problems = check_card("".join(f"key{number}: a\n" for number in range(200_000)))
    assert card is None
    assert [problem.code for problem in problems] == ["too-large"]
