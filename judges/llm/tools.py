"""Tools that a model may call while it works on a task, run in this process.

A reply that calls tools is kept verbatim: its text is the endpoint's message as JSON, with `content` and
`tool_calls` as they came. The calls are answered by messages of the role `tool`, and the model is asked
again, a bounded number of times.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from data.models import Reply
from judges.llm.requests import CallFailure, LlmClient, Message, Request, Tool, ToolCall

A = TypeVar("A", bound=BaseModel)

MOST_TURNS = 3
"""Replies of one task that may call tools; a further one leaves the task without a reply."""
MOST_CALLS = 8
"""Calls of one reply that are carried out."""


@dataclass(frozen=True, kw_only=True)
class LocalTool(Generic[A]):
    """A function of this program that a model may call.

    Attributes:
        name: Letters, digits, `_` and `-`.
        description: When to call it and what it gives, for the model.
        arguments: The shape of its arguments.
        run: Gives the result as text; raises nothing.
    """

    name: str
    description: str
    arguments: type[A]
    run: Callable[[A], str]

    def declared(self) -> Tool:
        """Return the tool as a request declares it."""
        schema = self.arguments.model_json_schema() | {"additionalProperties": False}
        return Tool(name=self.name, description=self.description, parameters=schema)

    def result(self, arguments: str) -> str:
        """Return the result for arguments as a model wrote them; what is wrong with them is a result too."""
        try:
            parsed = self.arguments.model_validate_json(arguments or "{}")
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the arguments"
            return f"The call cannot be carried out: {where}: {first['msg']}."
        return self.run(parsed)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request after its tool calls were answered, and the replies on the way, the last one last."""

    request: Request
    replies: tuple[Reply, ...]


async def converse(
    client: LlmClient, request: Request, tools: Sequence[LocalTool[Any]]
) -> Conversation | CallFailure:
    """Ask, carrying out the tool calls of the replies, until one calls none or the turns are used up.

    Returns:
        The conversation, whose last reply still calls tools where the turns were used up; why there is
        no reply, with the calls made until then.
    """
    by_name = {tool.name: tool for tool in tools}
    replies: list[Reply] = []
    while True:
        reply = await client.ask(request)
        if isinstance(reply, CallFailure):
            return replace(reply, calls=reply.calls + len(replies))
        replies.append(reply)
        calls = calls_of(reply) if by_name else ()
        if not calls or len(replies) > MOST_TURNS:
            return Conversation(request, tuple(replies))
        request = replace(request, messages=(*request.messages, *_answered(reply, calls, by_name)))


def calls_of(reply: Reply) -> tuple[ToolCall, ...]:
    """Return the tool calls of a reply, none where it is plain text."""
    message = _message(reply)
    calls = message.get("tool_calls")
    return tuple(map(_call, _functions(calls)))[:MOST_CALLS]


def text_with_calls(message: Mapping[str, Any]) -> str:
    """Return the text to keep of a message that calls tools: the message as JSON; empty for any other."""
    calls = message.get("tool_calls")
    if not _functions(calls):
        return ""
    return json.dumps({"content": message.get("content"), "tool_calls": calls}, ensure_ascii=False)


def _answered(reply: Reply, calls: Sequence[ToolCall], tools: Mapping[str, LocalTool[Any]]) -> list[Message]:
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
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(str(call.get("id") or function.get("name")), str(function.get("name")), written)
