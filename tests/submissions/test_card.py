"""System cards as teams write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.errors import FileFormatError, InvalidFileError
from data.models import SystemCard
from submissions.card import CARD_TEMPLATE, check_card, check_fields, load_card

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


def test_a_card_is_read_as_written(tmp_path: Path) -> None:
    card = load_card(write(tmp_path, CARD))
    assert (card.model, card.passages) == ("Mixtral 8x7B", "5 of LFRQA's corpus")
    assert (card.organisation, card.notes, card.contact) == ("Ångström Lab", "Two lines\nof notes.", "")


@pytest.mark.parametrize("text", ["# nothing yet\n", "model:\nlink: null\n", CARD_TEMPLATE])
def test_an_empty_card_is_a_card(text: str, tmp_path: Path) -> None:
    assert load_card(write(tmp_path, text)) == SystemCard()


BAD = {
    "unknown": ("model: x\ncolour: red\n", [(2, "unknown-field")]),
    "number": ("model: 4\n", [(1, "wrong-type")]),
    "date": ("notes: x\nlicence: 2024-01-01\n", [(2, "wrong-type")]),
    "list": ("passages: [a, b]\n", [(1, "wrong-type")]),
    "twice": ("model: x\nmodel: y\n", [(2, "duplicate-key")]),
    "no mapping": ("- model\n", [(1, "wrong-type")]),
    "broken": ("model: 'x\n", [(2, "bad-yaml")]),
    "two documents": ("model: x\n---\nmodel: y\n", [(2, "bad-yaml")]),
    "tag": ("model: !!python/object/apply:os.system ['true']\n", [(1, "wrong-type")]),
    "script link": ("link: javascript:alert(1)\n", [(1, "bad-link")]),
    "file link": ("link: file:///etc/passwd\n", [(1, "bad-link")]),
    "hostless link": ("link: https://\n", [(1, "bad-link")]),
    "weights": ("open_weights: partly\n", [(1, "bad-value")]),
    "parameters": ("parameters: 8x7B\n", [(1, "bad-value")]),
    "no parameters": ("parameters: 0\n", [(1, "bad-value")]),
    "release": ("model: x\nreleased: 2026-13\n", [(2, "bad-value")]),
    "release in words": ("released: last May\n", [(1, "bad-value")]),
    "release in a list": ("released: [2026]\n", [(1, "wrong-type")]),
    "link with a name": ("link: https://bank.example@evil.example/\n", [(1, "bad-link")]),
    "broken link": ("link: 'https://[::1'\n", [(1, "bad-link")]),
    "long": (f"model: {'x' * 201}\n", [(1, "too-long")]),
    "long notes": (f"notes: {'x' * 2001}\n", [(1, "too-long")]),
    "escape": ('model: "a\\eb"\n', [(1, "control-characters")]),
    "many": (
        "model: 1\nlink: ftp://x\nsize: 3\n",
        [(1, "wrong-type"), (2, "bad-link"), (3, "unknown-field")],
    ),
    "deep": ("model: " + "[" * 5_000, [(0, "bad-yaml")]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD.keys())
def test_every_problem_of_a_card_is_listed(
    text: str, expected: list[tuple[int | None, str]], tmp_path: Path
) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_card(write(tmp_path, text))
    assert [(one.line, one.code) for one in caught.value.problems] == expected
    assert check_card(text) == (None, caught.value.problems)


@pytest.mark.parametrize("content", [b"", b"\xff\xfem\x00", b"model: \xe9\n", b"model: " + b"x" * 70_000])
def test_a_card_that_is_no_text_is_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError):
        load_card(write(tmp_path, content))


def test_a_form_is_checked_field_by_field() -> None:
    card, wrong = check_fields({"model": " llm ", "link": "javascript:alert(1)", "notes": "n" * 2_001})
    assert card is None
    assert {name: [one.code for one in found] for name, found in wrong.items()} == {
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
def test_closed_fields_are_read_with_or_without_quotes(text: str, expected: tuple[str, str, str]) -> None:
    card, problems = check_card(text)
    assert not problems
    assert card is not None
    assert (card.open_weights, card.parameters, card.released) == expected


def test_a_card_of_many_keys_is_refused_unread() -> None:
    """A3: text longer than a card file may be is one problem, however many keys it has."""
    card, problems = check_card("".join(f"key{number}: a\n" for number in range(200_000)))
    assert card is None
    assert [problem.code for problem in problems] == ["too-large"]
