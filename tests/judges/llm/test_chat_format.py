from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from judges.llm.chat_format import Quirk, body_of
from judges.llm.requests import Message, Request, Sampling
from judges.llm.token_counting import SPLITTERS, EncodingFiles, TokenCounter

Serve = Callable[..., Any]
QUESTION = (Message("user", "why does bread rise?"),)
COUNTER = TokenCounter()
REQUEST = Request(endpoint="http://e/v1", model="gpt-4o", messages=QUESTION)


def test_body_contains_only_explicit_settings() -> None:
    bare = Sampling(temperature=None, top_p=None, max_tokens=None)
    request = Request(endpoint="e", model="m", messages=QUESTION, sampling=bare)
    assert set(body_of(request)) == {"model", "messages"}
    assert body_of(REQUEST)["max_tokens"] == 256
    assert body_of(REQUEST, frozenset({Quirk.COMPLETION_TOKENS}))["max_completion_tokens"] == 256


@given(st.text(max_size=300))
def test_upper_bound_holds_for_known_tokenizers(text: str) -> None:
    messages = (Message("user", text),)
    bound = COUNTER.bound(Request(endpoint="e", model="my-model", messages=messages))
    for model in ("gpt-4o", "gpt-4"):
        assert COUNTER.bound(Request(endpoint="e", model=model, messages=messages)) <= bound


@pytest.mark.parametrize("name", sorted(SPLITTERS))
def test_token_counts_match_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = EncodingFiles()._folder
    if folder is None:
        pytest.skip("litellm's tokenizer files are not there")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    theirs, ours = tiktoken.get_encoding(name), EncodingFiles().load(name)
    for text in (
        "Why does bread rise?\n\n  It's the yeast: 12345 bubbles…",
        "ЁЖ 日本語 🍞 café DON'T",
        "\r\n\t  x ",
    ):
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)


def test_bytes_are_upper_bound_without_tokenizer_files(tmp_path: Path) -> None:
    counter = TokenCounter(tmp_path)
    request = Request(endpoint="e", model="gpt-4o", messages=(Message("user", "é" * 100),))
    assert 200 <= counter.bound(request) <= 240
    assert counter.text("gpt-4o", "é") is None
    assert 50 <= counter.expected(request) <= 80
