from __future__ import annotations

from tests.providers.base import Answer, Call, End, Mode, always, completion, once, refusal

PAGE = b"<!DOCTYPE html><html><title>Sign in to continue</title><body>Please sign in.</body></html>"


def as_text(call: Call) -> Answer:
    """JSON under another content type."""
    return Answer(completion(call).body, content_type="text/plain")


def streamed(call: Call) -> Answer:
    """A stream though none was asked for."""
    chunk = b'data: {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "<rating>"}}]}\n\n'
    del call
    return Answer(chunk + b"data: [DONE]\n\n", content_type="text/event-stream")


MODES = (
    Mode(name="gateway-text", about="JSON as `text/plain`", end=End.JUDGED, answer=as_text, calls=1),
    Mode(
        name="gateway-page",
        about="a log-in page with status 200: quoted, nothing is lost",
        end=End.FAILED,
        answer=always(Answer(PAGE, content_type="text/html")),
        says="Sign in to continue",
        calls=3,
    ),
    Mode(
        name="gateway-502-page",
        about="a page with 502 once",
        answer=once(Answer(b"<html><h1>502 Bad Gateway</h1></html>", 502, content_type="text/html")),
        calls=2,
    ),
    Mode(
        name="gateway-stream",
        about="a stream though none was asked for",
        end=End.FAILED,
        answer=streamed,
        says="a stream that was not asked for",
        lost=True,
        calls=3,
    ),
    Mode(
        name="gateway-truncated",
        about="half of the JSON, once",
        answer=once(Answer(b'{"choices": [{"mess')),
        lost=True,
        calls=2,
    ),
    Mode(
        name="gateway-bom",
        about="a byte order mark before the JSON",
        answer=lambda call: Answer(b"\xef\xbb\xbf" + completion(call).raw),
        calls=1,
    ),
    Mode(
        name="gateway-latin-1",
        about="bytes that are no UTF-8",
        answer=lambda call: Answer(completion(call).raw.replace(b"longer one", b"l\xe4ngere")),
        calls=1,
    ),
    Mode(
        name="gateway-nul",
        about="a NUL character in the text",
        answer=lambda call: completion(call, call.verdict.replace("longer", "lon\x00ger")),
        calls=1,
    ),
    Mode(
        name="gateway-json-in-json",
        about="the completion as a JSON string",
        answer=lambda call: Answer(completion(call).raw.decode()),
        calls=1,
    ),
    Mode(
        name="gateway-number",
        about="a number in place of a reply",
        end=End.FAILED,
        answer=always(Answer(7)),
        says="no chat completion: 7",
        lost=True,
        calls=3,
    ),
    Mode(
        name="gateway-no-choice",
        about="no choices, with usage: that is booked, and nothing lost",
        end=End.FAILED,
        answer=always(Answer({"choices": [], "usage": {"prompt_tokens": 1_000, "completion_tokens": 0}})),
        says="no chat completion",
        calls=3,
    ),
    Mode(
        name="gateway-detail",
        about="200 with FastAPI's `detail`",
        end=End.FAILED,
        answer=always(Answer({"detail": "Upstream timed out"})),
        says="Upstream timed out",
        calls=3,
    ),
    Mode(
        name="gateway-errors",
        about="a list of errors in a 200",
        end=End.FAILED,
        answer=always(Answer({"errors": [{"message": "No healthy upstream"}], "success": False})),
        says="No healthy upstream",
        calls=3,
    ),
    Mode(
        name="gateway-drop",
        about="the connection is dropped once",
        answer=once(Answer(dropped=True)),
        lost=True,
        calls=2,
    ),
    Mode(
        name="gateway-413",
        about="413: the body is too large",
        end=End.FAILED,
        answer=always(Answer(b"<html>413 Request Entity Too Large</html>", 413, content_type="text/html")),
        says="413",
        calls=1,
    ),
    Mode(
        name="gateway-policy",
        about="403 of a firewall without a word on policy",
        end=End.GIVEN_UP,
        answer=always(Answer(b"<html>Forbidden</html>", 403, content_type="text/html")),
        says="Forbidden",
        calls=1,
    ),
    Mode(
        name="gateway-usage-policy",
        about="400: against the usage policies",
        end=End.REFUSED,
        answer=always(refusal(400, "Your request was rejected as it violates our usage policies.")),
        says="usage policies",
        calls=1,
    ),
    Mode(
        name="gateway-408",
        about="408 once",
        answer=once(refusal(408, "Timed out")),
        calls=2,
    ),
    Mode(
        name="gateway-reset-header",
        about="429 with a wait as a duration (`50ms`)",
        answer=once(refusal(429, "Slow down", headers={"retry-after": "50ms"})),
        calls=2,
    ),
)
