from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, once, refusal

PAGE = b"<!DOCTYPE html><html><title>Sign in to continue</title><body>Please sign in.</body></html>"


CHUNKS = (
    b'data: {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "<rating>"}}]}\n\n'
    b"data: [DONE]\n\n"
)

MODES = (
    Mode(
        "gateway-text",
        "JSON as `text/plain`",
        lambda call: Answer(completion(call).body, content_type="text/plain"),
    ),
    Mode(
        "gateway-page",
        "a log-in page with status 200: quoted, nothing is lost",
        always(Answer(PAGE, content_type="text/html")),
        End.FAILED,
        "Sign in to continue",
        calls=3,
    ),
    Mode(
        "gateway-stream",
        "a stream though none was asked for",
        always(Answer(CHUNKS, content_type="text/event-stream")),
        End.FAILED,
        "a stream that was not asked for",
        lost=True,
        calls=3,
    ),
    Mode(
        "gateway-bom",
        "a byte order mark before the JSON",
        lambda call: Answer(b"\xef\xbb\xbf" + completion(call).raw),
    ),
    Mode(
        "gateway-latin-1",
        "bytes that are no UTF-8",
        lambda call: Answer(completion(call).raw.replace(b"longer one", b"l\xe4ngere")),
    ),
    Mode(
        "gateway-json-in-json",
        "the completion as a JSON string",
        lambda call: Answer(completion(call).raw.decode()),
    ),
    Mode(
        "gateway-number",
        "a number in place of a reply",
        always(Answer(7)),
        End.FAILED,
        "no chat completion: 7",
        lost=True,
        calls=3,
    ),
    Mode(
        "gateway-no-choice",
        "no choices, with usage: that is booked, and nothing lost",
        always(Answer({"choices": [], "usage": {"prompt_tokens": 1_000, "completion_tokens": 0}})),
        End.FAILED,
        "no chat completion",
        calls=3,
    ),
    Mode(
        "gateway-detail",
        "200 with FastAPI's `detail`",
        always(Answer({"detail": "Upstream timed out"})),
        End.FAILED,
        "Upstream timed out",
        calls=3,
    ),
    Mode(
        "gateway-errors",
        "a list of errors in a 200",
        always(Answer({"errors": [{"message": "No healthy upstream"}], "success": False})),
        End.FAILED,
        "No healthy upstream",
        calls=3,
    ),
    Mode("gateway-drop", "the connection is dropped once", once(Answer(dropped=True)), lost=True, calls=2),
    Mode(
        "gateway-policy",
        "403 of a firewall without a word on policy",
        always(Answer(b"<html>Forbidden</html>", 403, content_type="text/html")),
        End.GIVEN_UP,
        "Forbidden",
    ),
    Mode(
        "gateway-usage-policy",
        "400: against the usage policies",
        always(refusal(400, "Your request was rejected as it violates our usage policies.")),
        End.REFUSED,
        "usage policies",
    ),
    Mode("gateway-408", "408 once", once(refusal(408, "Timed out")), calls=2),
)
