"""Similar names of systems, and reserved words."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, update

from data.errors import ConflictError
from data.models import SystemCard
from data.models.questions import NAME_PATTERN, require_system_name
from data.models.submissions import submissions
from data.store import Store
from data.store.submissions import NewSubmission
from data.system_names import file_name_of, look_alike, name_key
from tests.data.conftest import make_set

NAMES = st.from_regex(NAME_PATTERN, fullmatch=True)


@pytest.fixture
def named_store(store: Store) -> Store:
    """Store with the tiny set, whose reference is `gold`, and the systems `alpha` and `qwen1.5`."""
    store.sets.add(replace(make_set(), reference_name="gold"), "x")
    for system in ("alpha", "qwen1.5"):
        store.submissions.add(_new(system), [])
    return store


def _new(system: str, *, content: str = "1", team: str = "ours", anonymous: bool = False) -> NewSubmission:
    return NewSubmission(
        set_name="tiny",
        system=system,
        team=team,
        card=SystemCard(),
        content_hash=content,
        anonymous=anonymous,
    )


@pytest.mark.parametrize(
    "name", ["Alpha", "a1pha", "aIpha", "alpha.", "alpha-", "ALPHA_", "Gold", "go1d", "qwenl.5", "QWEN1.5+"]
)
def test_lookalike_name_is_refused(named_store: Store, name: str) -> None:
    with pytest.raises(ConflictError, match="looks like") as caught:
        named_store.submissions.add(_new(name, team="theirs"), [])
    assert "Choose another name" in caught.value.advice


@pytest.mark.parametrize("name", ["qwen15", "alpha2", "al-pha", "qwen1-5"])
def test_inner_punctuation_distinguishes_names(named_store: Store, name: str) -> None:
    assert named_store.submissions.add(_new(name), [])[1]


@pytest.mark.parametrize(
    "name", ["Human", "0verall", "T1E", "model_a", "Reference.", "NaN", "NA", "n/a", "null"]
)
def test_reserved_words_are_refused(named_store: Store, name: str) -> None:
    with pytest.raises(ConflictError, match="is reserved"):
        named_store.submissions.add(_new(name), [])


def test_existing_lookalike_names_stay(named_store: Store) -> None:
    with named_store.database.begin() as connection:
        connection.execute(
            update(submissions).where(submissions.c.system == "qwen1.5").values(system="Alpha")
        )
        columns = [column.name for column in submissions.c if column.name != "id"]
        old = connection.execute(submissions.select().where(submissions.c.system == "alpha")).one()
        row = {name: getattr(old, name) for name in columns}
        connection.execute(insert(submissions).values({**row, "system": "tie"}))
    for name in ("Alpha", "alpha", "tie"):
        assert named_store.submissions.add(_new(name, content="2"), [])[0].version == 2


def test_message_hides_anonymous_systems(named_store: Store) -> None:
    named_store.submissions.add(_new("secret", anonymous=True), [])
    with pytest.raises(ConflictError, match="looks like a name that is taken"):
        named_store.submissions.add(_new("Secret", team="theirs"), [])


@given(NAMES)
def test_every_name_has_key_and_matches_itself(name: str) -> None:
    assert name_key(name)
    assert look_alike(name.swapcase(), [name]) == name


@pytest.mark.parametrize("name", ["meta-llama/Llama-3-70B", "gpt-4o (2024-08)", "a:b+c", "Qwen 2,5", "日本"])
def test_common_names_are_valid(named_store: Store, name: str) -> None:
    assert require_system_name(name) == name
    assert named_store.submissions.add(_new(name), [])[0].system == name
    assert _read(file_name_of(name)) == name


@given(st.text(max_size=30))
def test_file_name_is_safe_and_reversible(name: str) -> None:
    assert _read(file_name_of(name)) == name
    assert not set(file_name_of(name)) & set("/\\: %?#")


def _read(file_name: str) -> str:
    """Return the system name in a file name."""
    return unquote(file_name.replace("~", "%"), errors="strict")
