"""Shares as text."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select

from data.models import Reply
from data.models.tables import batches
from data.store import Store
from data.text import json_text, percent, percent_figure, storable


@pytest.mark.parametrize(
    ("share", "text"), [(0.285, "29 %"), (-0.00049, "0 %"), (-0.005, "\u22121 %"), (None, "–")]
)
def test_shares_are_rounded_half_away_from_zero(share: float | None, text: str) -> None:
    assert percent(share, decimals=0) == text


@given(st.integers(-100_000, 100_000), st.sampled_from([0, 1, 2]))
def test_rounding_is_decimal(hundred_thousandths: int, decimals: int) -> None:
    exact = (Decimal(hundred_thousandths) / 1_000).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    figure = percent_figure(hundred_thousandths / 100_000, decimals=decimals).replace("\u2212", "-")
    assert Decimal(figure) == exact


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@given(ANY_TEXT)
def test_storable_text_is_utf_8_without_nul(text: str) -> None:
    stored = storable(text)
    assert len(stored) == len(text)
    assert "\x00" not in stored.encode().decode()
    assert storable(stored) == stored
    assert all(after in {before, "\ufffd"} for before, after in zip(text, stored, strict=True))


@given(st.recursive(st.none() | st.integers() | ANY_TEXT, lambda inner: st.lists(inner, max_size=3)))
def test_json_values_are_stored_with_storable_texts(value: object) -> None:
    def expected(inner: object) -> object:
        if isinstance(inner, list):
            return [expected(item) for item in inner]
        return storable(inner) if isinstance(inner, str) else inner

    assert json.loads(json_text(value)) == expected(value)
    assert "\\u0000" not in json_text(value).replace("\\\\", "")


def test_unstorable_reply_does_not_affect_others(store: Store) -> None:
    odd = Reply(key="b", endpoint="e\ud800", model="m\x00", text="ok \ud83d", finish_reason="\udfff")
    replies = [Reply(key="a", endpoint="e", model="m", text="fine"), odd]
    store.replies.put(replies)
    stored = store.replies.get_many(["a", "b"])
    assert stored["a"].text == "fine"
    assert (stored["b"].text, stored["b"].endpoint, stored["b"].model) == ("ok \ufffd", "e\ufffd", "m\ufffd")


def test_names_and_json_columns_accept_any_text(store: Store) -> None:
    store.batches.write("n\ud800", endpoint="e", keys=("k\udc00", "\x00"), batch_id="")
    with store.database.begin() as connection:
        statement = select(batches.c["keys"]).where(batches.c.name == "n\ud800")
        assert connection.execute(statement).scalar_one() == ["k\ufffd", "\ufffd"]
        connection.execute(insert(batches).values(name="x", endpoint="\ud800", batch_id="", keys=[]))
