"""Texts that are stored in fewer bytes: what comes back, what is gained, what was stored before."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, type_coerce
from sqlalchemy.types import LargeBinary, String

from data.errors import StoreError
from data.records import Reply
from data.store import Store
from data.store.engine import pairs
from data.tables import columns
from data.tables.columns import PACKED, pack, unpack
from data.tables.judgments import replies

REPLY = (
    "<thinking>Both answers are true and name the second rise. Answer 1 also explains that the extra hours "
    "give the loaf its flavour and an even crumb, which the passages support; answer 2 leaves that out and "
    "is no shorter for it. More true, helpful information decides.</thinking>\n<rating>1</rating>"
)
PROSE = (
    "A harbour pilot boards each ship outside the breakwater, since the channel shifts with every storm and "
    "no chart keeps up with it. The tugs wait inside, where the swell is lower, and take the lines in turn."
)
FROZEN = "be1b12c31172886fc8863451633272e79e856290fee5c9d65dc8c257cc0974ad"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_every_text_comes_back(text: str) -> None:
    """What is packed is unpacked to the same text, in no more bytes than UTF-8 takes."""
    packed = pack(text)
    assert unpack(packed) == text
    assert len(packed) <= len(text.encode())


def test_replies_take_less_than_half_and_short_texts_stay_as_they_are() -> None:
    """A reply of a judge takes under half of its bytes, prose under 60 %; a few words are not packed."""
    assert len(pack(REPLY)) < 0.5 * len(REPLY)
    assert len(pack(PROSE)) < 0.6 * len(PROSE)
    assert pack("No answer.") == b"No answer."


def test_dictionary_never_changes() -> None:
    """What is stored cannot be read with another dictionary, which needs a first byte of its own."""
    path = Path(columns.__file__).with_name("packing_1.txt")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == FROZEN


@pytest.mark.parametrize("stored", [b"\xfe\x00", PACKED + b"\x00", PACKED + b"no deflated text"])
def test_unreadable_text_is_an_error_that_says_what_to_do(stored: bytes) -> None:
    """Bytes of a newer program, or damaged ones, are told instead of shown."""
    with pytest.raises(StoreError, match=r"cannot be read.*version of Answer Arena that wrote it"):
        unpack(stored)


def _reply(key: str, text: str) -> Reply:
    return Reply(key=key, endpoint="e", model="m", text=text, logprobs=None, thinking=text or None)


def test_replies_are_packed_in_the_database_and_read_as_they_were(store: Store) -> None:
    """A long reply is stored packed, a short one as it is; both come back, and null stays null."""
    kept = {"long": _reply("long", REPLY), "short": _reply("short", "Yes."), "empty": _reply("empty", "")}
    store.replies.put(list(kept.values()))
    assert store.replies.get_many(list(kept)) == kept
    kind = String if store.database.is_sqlite else LargeBinary
    with store.database.begin() as connection:
        stored = pairs(connection.execute(select(replies.c.key, type_coerce(replies.c.text, kind))))
    assert stored["long"] == pack(REPLY)
    assert stored["long"].startswith(PACKED)
    assert stored["short"] == ("Yes." if store.database.is_sqlite else b"Yes.")
