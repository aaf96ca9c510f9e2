from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.models import Reply
from judges.llm.chat_format import Quirk, as_sent, body_of, effective_sampling, quirk_of
from judges.llm.errors import CallError, CallErrorKind, fault_of_status
from judges.llm.replies import canonical, finish_of, payload_of, reply_of, split_reasoning, token_shares
from judges.llm.requests import Message, Request, ResponseFormat, Sampling
from judges.llm.tasks import read_reply
from judges.llm.usage import MAX_TOKENS
from judges.metrics.coverage.settings import ASPECTS
from judges.pairwise.parsing import read
from judges.spec import ReplyFormat
from tests.cases import cases

MESSAGES = (Message("system", "Judge."), Message("user", "Which?"))
REQUEST = Request(endpoint="http://e/v1", model="m", messages=MESSAGES)
GOOD = cases(__file__, "GOOD")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)
PLACES = tuple(
    tuple(int(step) if step.isdigit() else step for step in place.split("."))
    for place in (
        *(
            "id",
            "model",
            "system_fingerprint",
            "error",
            "usage",
            "usage.prompt_tokens",
            "usage.completion_tokens",
        ),
        *("choices", "choices.0.error", "choices.0.finish_reason", "choices.0.native_finish_reason"),
        *("choices.0.logprobs", "choices.0.logprobs.content", "choices.0.logprobs.content.0"),
        *("choices.0.logprobs.content.0.logprob", "choices.0.logprobs.content.0.top_logprobs"),
        *("choices.0.message", "choices.0.message.content", "choices.0.message.reasoning"),
        *("choices.0.message.refusal", "choices.0.message.tool_calls"),
    )
)


def with_in(place: tuple[str | int, ...], value: object) -> dict[str, object]:
    body: dict[str, object] = dict(copy.deepcopy(GOOD))
    inner: object = body
    for step in place[:-1]:
        inner = inner[step]  # type: ignore[index]
    inner[place[-1]] = value  # type: ignore[index]
    return body


def matches(reading: Callable[[], object]) -> object:
    try:
        return reading()
    except CallError as fault:
        return fault


@given(st.sampled_from(PLACES), ANY_JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_is_storable_reply_or_error(place: tuple[str | int, ...], value: object) -> None:
    reply = matches(lambda: reply_of(REQUEST, with_in(place, value), 0.1))
    if isinstance(reply, CallError):
        assert (reply.detail + reply.message).encode()
        assert reply.usage >= (0, 0)
        return
    assert isinstance(reply, Reply)
    texts = (reply.text, reply.finish_reason, reply.thinking, reply.logprobs, reply.response_id)
    for text in (*texts, reply.response_model, reply.fingerprint):
        assert "\x00" not in (text or "").encode().decode()
    assert 0 <= reply.input_tokens <= MAX_TOKENS
    assert 0 <= reply.output_tokens <= MAX_TOKENS
    assert reply.metered or not (reply.input_tokens or reply.output_tokens)
    for reply_format in ReplyFormat:
        reading = read(reply, reply_format)
        assert reading.margin is None or math.isfinite(reading.margin)
    json.loads(reply.logprobs or "[]", parse_constant=pytest.fail)
    token_shares(reply, "x", ["1", "2"])


@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_error_with_quote(raw: bytes) -> None:
    fault = matches(lambda: payload_of(raw))
    if isinstance(fault, CallError):
        assert (fault.kind, "not a chat completion" in fault.detail) == (CallErrorKind.TRANSIENT, True)


@pytest.mark.parametrize(
    ("reason", "native", "ours"), cases(__file__, "finish_reasons_are_read_in_every_spelling")
)
def test_finish_reasons_are_normalised(reason: object, native: object, ours: str) -> None:
    assert finish_of({"finish_reason": reason, "native_finish_reason": native}) == ours
    assert canonical(canonical(reason)) == canonical(reason)


def test_top_p_1_is_omitted_at_temperature_0() -> None:
    assert "top_p" not in body_of(REQUEST)
    assert effective_sampling(Sampling(temperature=0.0, top_p=0.9)).top_p == 0.9
    assert effective_sampling(Sampling(temperature=0.5)).top_p == 1.0
    omitted = ["temperature", "top_p"]
    sent = {**dict.fromkeys((*omitted, "seed")), "max_tokens": 256, "left_out": omitted}
    assert as_sent(Sampling(temperature=0.5), "temperature, top_p") == sent


@pytest.mark.parametrize(
    ("status", "message", "quirk"),
    [
        (400, "Unsupported parameter: 'temperature' is not supported with this model.", Quirk.NO_TEMPERATURE),
        (400, "`temperature` and `top_p` cannot both be specified for this model.", Quirk.NO_TOP_P),
        (400, "`temperature` is deprecated for this model.", Quirk.NO_TEMPERATURE),
        (400, "max_tokens is not supported, use max_completion_tokens", Quirk.COMPLETION_TOKENS),
        (400, "Unrecognized request argument supplied: max_tokens", Quirk.COMPLETION_TOKENS),
        (400, "max_tokens is too large: 256", None),
        (400, "This model's maximum context length is 8192; max_tokens is not supported", None),
        (400, "Your prompt on temperature was flagged by moderation", None),
        (400, "System role not supported", Quirk.NO_SYSTEM),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' here.", Quirk.NO_SYSTEM),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it", Quirk.NO_SYSTEM),
        (500, "System role not supported", Quirk.NO_SYSTEM),
        (400, "Conversation roles must alternate user/assistant/…", Quirk.NO_SYSTEM),
        (500, "Internal error at temperature 0", None),
        (429, "temperature unsupported", None),
    ],
)
def test_error_naming_setting_selects_quirk(status: int, message: str, quirk: Quirk | None) -> None:
    request = Request(endpoint="e", model="m", messages=MESSAGES, sampling=Sampling(temperature=0.5))
    fault = fault_of_status(status, {"error": {"message": message}}, {})
    assert quirk_of(fault, body_of(request)) is quirk


def test_unnamed_rejection_drops_response_format() -> None:
    form = ResponseFormat(name="t", schema={"type": "object"})
    body = body_of(Request(endpoint="e", model="m", messages=MESSAGES, response_format=form))
    fault = fault_of_status(400, {"error": {"message": "Invalid schema"}}, {})
    assert quirk_of(fault, body) is Quirk.NO_RESPONSE_FORMAT


PARTS = (*"120x \n", "<think>", "</think>", "<thinking>", "</Thinking>", "<rating>", "</rating>")
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
SAME_NAME = re.compile(r"<(think(?:ing)?)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
EITHER = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
SCANNED = re.compile(r"<rating>.*\d+.*</rating>", re.DOTALL)


@given(TEXTS)
def test_reasoning_blocks_match_patterns(text: str) -> None:
    """A block closed by its own name, or by either name, is the one that the old patterns matched."""
    assert split_reasoning(text, same_name=True) == (
        [match[1] for match in SAME_NAME.findall(text)],
        SAME_NAME.sub("", text),
    )
    assert split_reasoning(text, same_name=False)[1] == EITHER.sub("", text)


@given(TEXTS)
def test_digit_scan_matches_pattern(text: str) -> None:
    """RAG-QA Arena's digit scan takes the highest digit of the rating that its pattern finds."""
    matches = SCANNED.findall(text)
    digit = max((digit for digit in "012" if digit in (matches[0] if matches else text)), default="0")
    reading = read(Reply(key="k", endpoint="e", model="m", text=text), ReplyFormat.DIGIT_SCAN)
    assert reading.choice is not None
    assert reading.choice.value == int(digit)


def test_rating_allows_whitespace() -> None:
    """A rating surrounded by much space is read; one of more than 40 characters is not."""
    wide = f"<rating>{' ' * 100_000}1{' ' * 100_000}</rating>"
    long = f"<rating>1{' ' * 100}1</rating>"
    answers = [
        read(Reply(key="k", endpoint="e", model="m", text=text), ReplyFormat.RATING) for text in (wide, long)
    ]
    assert [answer.choice is not None for answer in answers] == [True, False]


def test_unclosed_braces_are_not_object() -> None:
    """Nested braces are a malformed reply, and an object before them is still read."""
    nest = '{"a":' * 20_000
    problem = read_reply(ASPECTS, Reply(key="k", endpoint="e", model="m", text=nest))
    assert isinstance(problem, str)
