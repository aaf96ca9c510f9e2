"""Tools that a model may call during a task; they run in this process.

The text of a reply with tool calls is the endpoint's message as JSON, with its original `content` and
`tool_calls`. Results are sent back as `tool` messages, for a limited number of turns.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from data.models import Reply
from judges.llm.requests import CallFailure, LlmClient, Message, Request, Tool, ToolCall

A = TypeVar("A", bound=BaseModel)

MAX_TURNS = 3
"""Maximum number of replies of a task with tool calls."""
MAX_CALLS = 8
"""Maximum number of executed calls per reply."""


@dataclass(frozen=True, kw_only=True)
class LocalTool(Generic[A]):
    """A local function that a model may call.

    Attributes:
        name: Letters, digits, `_` and `-`.
        description: Purpose and result, for the model.
        arguments: Schema of its arguments.
        run: Returns the result as text; must not raise.
    """

    name: str
    description: str
    arguments: type[A]
    run: Callable[[A], str]

    def declared(self) -> Tool:
        """Return the tool's declaration for a request."""
        schema = self.arguments.model_json_schema() | {"additionalProperties": False}
        return Tool(name=self.name, description=self.description, parameters=schema)

    def result(self, arguments: str) -> str:
        """Run the tool on JSON arguments; errors in the arguments are also results."""
        try:
            parsed = self.arguments.model_validate_json(arguments or "{}")
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the arguments"
            return f"The call cannot be carried out: {where}: {first['msg']}."
        return self.run(parsed)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The final request with all tool results, and its replies in order."""

    request: Request
    replies: tuple[Reply, ...]


async def converse(
    client: LlmClient, request: Request, tools: Sequence[LocalTool[Any]]
) -> Conversation | CallFailure:
    """Ask and execute tool calls until a reply has none or the maximum number of turns is reached."""
    by_name = {tool.name: tool for tool in tools}
    replies: list[Reply] = []
    while True:
        reply = await client.ask(request)
        if isinstance(reply, CallFailure):
            return replace(reply, calls=reply.calls + len(replies))
        replies.append(reply)
        calls = calls_of(reply) if by_name else ()
        if not calls or len(replies) > MAX_TURNS:
            return Conversation(request, tuple(replies))
        request = replace(request, messages=(*request.messages, *_tool_messages(reply, calls, by_name)))


def calls_of(reply: Reply) -> tuple[ToolCall, ...]:
    """Return the tool calls of a reply."""
    message = _message(reply)
    calls = message.get("tool_calls")
    return tuple(map(_call, _functions(calls)))[:MAX_CALLS]


def text_with_calls(message: Mapping[str, Any]) -> str:
    """Return a message with tool calls as JSON text; empty for other messages."""
    calls = message.get("tool_calls")
    if not _functions(calls):
        return ""
    return json.dumps({"content": message.get("content"), "tool_calls": calls}, ensure_ascii=False)


def _tool_messages(
    reply: Reply, calls: Sequence[ToolCall], tools: Mapping[str, LocalTool[Any]]
) -> list[Message]:
    content = _message(reply).get("content")
    message = Message("assistant", content if isinstance(content, str) else "", tool_calls=tuple(calls))
    return [message, *(Message("tool", _result(call, tools), tool_call_id=call.id) for call in calls)]


def _result(call: ToolCall, tools: Mapping[str, LocalTool[Any]]) -> str:
    tool = tools.get(call.name)
    if tool is None:
        return f"There is no tool of this name; there are: {', '.join(tools)}."
    return tool.result(call.arguments)


def _message(reply: Reply) -> Mapping[str, Any]:
    if not reply.text.startswith('{"content"'):
        return {}
    try:
        message = json.loads(reply.text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _functions(calls: object) -> list[Mapping[str, Any]]:
    if not isinstance(calls, list):
        return []
    return [call for call in calls if isinstance(call, Mapping) and isinstance(call.get("function"), Mapping)]


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(str(call.get("id") or function.get("name")), str(function.get("name")), text)
