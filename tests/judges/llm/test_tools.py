from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from data.models import Outcome
from data.store import Store
from judges.llm.client import open_client
from judges.llm.requests import Message, Request, Tool, ToolCall
from judges.llm.settings import AccessSettings, CacheMode
from judges.llm.tasks import TaskRunner
from judges.llm.tools import MAX_TURNS, calls_of
from judges.metrics.comprehensiveness.graph import UnscoredError, gather_all
from judges.metrics.comprehensiveness.llm_steps import AnswerComparer, AnswerRelation
from tests.memory import MemoryJournal, MemoryReplyCache
from tests.scripted_llm import ToolUse

Serve = Callable[..., Any]
PLAIN = Request(endpoint="http://e/v1", model="m", messages=(Message("user", "How far?"),))
TOOL = Tool(name="compare_quantities", description="Compares.", parameters={"type": "object"})
CALL = {"first": "10 km", "second": "10,000 m"}


def tool_use(*arguments: object, name: str = "compare_quantities") -> ToolUse:
    """Call `compare_quantities` once per argument."""
    return ToolUse(tuple((name, argument) for argument in arguments))


def by_result(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
    """Call the tool if possible, then decide by its result."""
    pair = {"first": ask.tagged("first_answer")[0], "second": ask.tagged("second_answer")[0]}
    results = [*ask.results, *(text for text in ask.tagged("tool_result") if "not called" not in text)]
    if results:
        relation = "equivalent" if "equal to" in results[-1] else "contradictory"
        return {"reasoning": results[-1], "relation": relation, "compare_quantities": None}
    if ask.offered:
        return tool_use(pair)
    return {"compare_quantities": pair, "reasoning": "", "relation": None}


def compare(
    url: str,
    *pairs: tuple[str, str],
    cache: Any = None,  # noqa: ANN401 - any reply cache
    **settings: Any,  # noqa: ANN401 - access settings of any type
) -> list[AnswerRelation]:
    async def every() -> list[AnswerRelation]:
        async with open_client(AccessSettings(backoff=0.01, **settings), cache) as client:
            comparer = AnswerComparer(TaskRunner(client, endpoint=url, model="m"))
            return await gather_all(comparer("How far?", *pair) for pair in pairs)

    return asyncio.run(every())


def test_requests_without_tools_keep_their_keys() -> None:
    assert PLAIN.key == "0e582937dba2efbdbafb244ab5e8c39de454a75b1da5346057f1ddb58a156996"
    assert "tools" not in PLAIN.canonical


@pytest.mark.parametrize(
    "changed",
    [
        {"tools": (TOOL,)},
        {"tools": (replace(TOOL, description="Compares two."),)},
        {"messages": (Message("user", "How far?"), Message("assistant", "", (ToolCall("1", "f", "{}"),)))},
        {"messages": (Message("user", "How far?"), Message("assistant", "", (ToolCall("1", "f", "[]"),)))},
        {"messages": (Message("user", "How far?"), Message("tool", "equal", tool_call_id="1"))},
    ],
)
def test_tools_and_their_calls_are_part_of_key(changed: Mapping[str, Any]) -> None:
    keys = {PLAIN.key, replace(PLAIN, messages=(*PLAIN.messages, Message("assistant", ""))).key}
    assert replace(PLAIN, **changed).key not in keys


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["openai", "litellm"])
def test_tool_is_called_natively_and_runs_locally(scripted_llm: Serve, transport: str) -> None:
    server = scripted_llm()
    server.handlers["compare_answers"] = by_result
    model = "openai/m" if transport == "litellm" else "m"

    async def once() -> object:
        async with open_client(AccessSettings(backoff=0.01, transport=transport, api_key="k")) as client:
            runner = TaskRunner(client, endpoint=server.url, model=model)
            return await AnswerComparer(runner)("How far?", "10 km", "10,000 m")

    assert asyncio.run(once()) is AnswerRelation.EQUIVALENT
    first, second = server.log.bodies
    (offered,) = first["tools"]
    assert offered["function"]["name"] == "compare_quantities"
    assert set(offered["function"]["parameters"]["required"]) == {"first", "second"}
    message, result = second["messages"][-2:]
    assert message["tool_calls"][0]["function"] == {
        "name": "compare_quantities",
        "arguments": json.dumps(CALL),
    }
    assert (result["role"], result["tool_call_id"]) == ("tool", message["tool_calls"][0]["id"])
    assert "10 km is equal to 10,000 m" in result["content"]


def test_tool_calls_are_cached_verbatim_and_replayed(scripted_llm: Serve, store: Store) -> None:
    server = scripted_llm()
    server.handlers["compare_answers"] = by_result
    cache = MemoryReplyCache()
    assert compare(server.url, ("10 km", "12 miles"), cache=cache) == [AnswerRelation.CONTRADICTORY]
    store.replies.put(list(cache.replies.values()))
    stored = store.replies.get_many(list(cache.replies))
    called = [reply for reply in stored.values() if calls_of(reply)]
    assert json.loads(called[0].text)["tool_calls"][0]["type"] == "function"
    cache.replies = dict(stored)
    calls = server.log.calls
    again = compare(server.url, ("10 km", "12 miles"), cache=cache, cache_mode=CacheMode.REPLAY)
    assert (again, server.log.calls) == ([AnswerRelation.CONTRADICTORY], calls)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{not json", "cannot be carried out"),
        ({"first": "10 km"}, "second: Field required"),
        ({"first": "10 km", "second": "blue"}, "cannot be compared"),
        ("", "first: Field required"),
    ],
)
def test_invalid_call_is_reported_to_model(scripted_llm: Serve, arguments: object, message: str) -> None:
    server = scripted_llm()
    server.handlers["compare_answers"] = lambda ask: (
        {"reasoning": "", "relation": "neutral"} if ask.results else tool_use(arguments)
    )
    assert compare(server.url, ("10 km", "blue")) == [AnswerRelation.NEUTRAL]
    assert message in server.log.bodies[-1]["messages"][-1]["content"]


def test_unknown_tool_and_parallel_calls_are_answered(scripted_llm: Serve) -> None:
    server = scripted_llm()
    turns = [tool_use(CALL, CALL), tool_use({}, name="search_web"), {"reasoning": "", "relation": "neutral"}]
    server.handlers["compare_answers"] = lambda _: turns.pop(0)
    assert compare(server.url, ("1 km", "2 km")) == [AnswerRelation.NEUTRAL]
    roles = [message["role"] for message in server.log.bodies[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert "compare_quantities" in server.log.bodies[-1]["messages"][-1]["content"]


def test_turns_are_limited(scripted_llm: Serve) -> None:
    server = scripted_llm()
    server.handlers["compare_answers"] = lambda _: tool_use(CALL)
    with pytest.raises(UnscoredError, match="calls a tool once more") as caught:
        compare(server.url, ("1 km", "2 km"))
    assert caught.value.outcome is Outcome.UNREADABLE
    assert server.log.calls == 2 * (MAX_TURNS + 1)


def test_endpoint_without_tools_uses_reply_field(scripted_llm: Serve) -> None:
    server = scripted_llm(tools=False)
    server.handlers["compare_answers"] = by_result
    pairs = [(f"{n} km", f"{n},000 m") for n in range(1, 21)]
    assert compare(server.url, *pairs) == [AnswerRelation.EQUIVALENT] * 20
    assert server.log.statuses["400"] == 1
    assert server.log.calls == 1 + 2 * len(pairs)


@pytest.mark.slow
def test_batches_do_not_use_tools(scripted_llm: Serve) -> None:
    server = scripted_llm()
    server.handlers["compare_answers"] = by_result
    settings = AccessSettings(transport="batch", batch_gather=0.05, batch_poll=0.01)

    async def once() -> object:
        async with open_client(settings, MemoryReplyCache(), journal=MemoryJournal()) as client:
            comparer = AnswerComparer(TaskRunner(client, endpoint=server.url, model="m"))
            return await comparer("How far?", "10 km", "10,000 m")

    assert asyncio.run(once()) is AnswerRelation.EQUIVALENT
    assert server.batches == 2
