"""Text from anywhere can be stored: halves of character pairs and NUL are replaced, all else stays."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select

from data.models import Reply
from data.models.tables import batches
from data.store import Store
from data.text import json_text, storable

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@given(ANY_TEXT)
def test_storable_text_is_utf_8_without_nul(text: str) -> None:
    """It has the same length, is itself storable, and is the text wherever that was storable."""
    kept = storable(text)
    assert len(kept) == len(text)
    assert "\x00" not in kept.encode().decode()
    assert storable(kept) == kept
    assert all(after in {before, "\ufffd"} for before, after in zip(text, kept, strict=True))


@given(st.recursive(st.none() | st.integers() | ANY_TEXT, lambda inner: st.lists(inner, max_size=3)))
def test_json_values_are_stored_with_storable_texts(value: object) -> None:
    """What is read back is the value with its texts made storable; backslashes stay."""

    def kept(inner: object) -> object:
        if isinstance(inner, list):
            return [kept(item) for item in inner]
        return storable(inner) if isinstance(inner, str) else inner

    assert json.loads(json_text(value)) == kept(value)
    assert "\\u0000" not in json_text(value).replace("\\\\", "")


def test_one_odd_reply_takes_no_other_with_it(store: Store) -> None:
    """A batch of replies with half of a character pair in one of them is kept as a whole."""
    odd = Reply(key="b", endpoint="e\ud800", model="m\x00", text="ok \ud83d", finish_reason="\udfff")
    replies = [Reply(key="a", endpoint="e", model="m", text="fine"), odd]
    store.replies.put(replies)
    stored = store.replies.get_many(["a", "b"])
    assert stored["a"].text == "fine"
    assert (stored["b"].text, stored["b"].endpoint, stored["b"].model) == ("ok \ufffd", "e\ufffd", "m\ufffd")


def test_names_and_json_columns_take_any_text(store: Store) -> None:
    """Every column of text does so, not that of replies alone, and so does what is looked for."""
    store.batches.write("n\ud800", endpoint="e", keys=("k\udc00", "\x00"), batch_id="")
    with store.database.begin() as connection:
        statement = select(batches.c["keys"]).where(batches.c.name == "n\ud800")
        assert connection.execute(statement).scalar_one() == ["k\ufffd", "\ufffd"]
        connection.execute(insert(batches).values(name="x", endpoint="\ud800", batch_id="", keys=[]))
