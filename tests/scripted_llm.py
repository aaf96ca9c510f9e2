"""A scripted LLM endpoint: OpenAI-compatible, deterministic, and faulty on demand.

Inside tests, use the `scripted_llm` fixture. For other processes, run it as a program:
python -m tests.scripted_llm --port 8010 --latency 0.05
It serves `/v1/chat/completions`, `/v1/models`, `/v1/files` and `/v1/batches`; `GET /scripted/log` returns the
number of calls, and `POST /scripted/script` changes the script. Faults of transport (429, 500, hang, drop,
malformed) differ between attempts; faults of content (refusal, filtered, truncated, wrong format) depend
only on the request. Both come from a hash of the request, so all processes see the same faults.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from aiohttp import web

from tests.scripted_batches import Batches
from tests.scripted_log import Log, error
from tests.scripted_replies import (
    RULES,
    STATUS_FAULTS,
    Ask,
    Fault,
    Handler,
    Script,
    ToolUse,
    answers_of,
    chance,
    instance_of,
    logprobs_of,
)

__all__ = ["RULES", "Ask", "Fault", "Log", "Script", "ScriptedLLM", "ToolUse"]


class ScriptedLLM:
    """Scripted endpoint; its script may be changed and its log read while it serves."""

    def __init__(self, script: Script | None = None, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script = script or Script()
        self.log = Log()
        self.handlers: dict[str, Handler] = {}
        self.host, self.port = host, port
        self._names: dict[str, str] = {}
        self._batches = Batches(self)

    @property
    def url(self) -> str:
        """Base URL for clients."""
        return f"http://{self.host}:{self.port}/v1"

    @property
    def batches(self) -> int:
        """Created batches."""
        return len(self._batches)

    def reset(self) -> None:
        """Clear the log."""
        self.log = Log()

    # Replies -----------------------------------------------------------------------------------

    def draw(self, key: str, attempt: int) -> Fault | str | None:
        """Return the fault of this call, a scripted text, or nothing."""
        script = self.script
        if script.first:
            item = script.first.pop(0)
            return Fault(item) if item in Fault.__members__.values() else item
        transport, content = chance(0, key, attempt), chance(0, key)
        for fault, share in script.faults.items():
            if fault.of_content:
                content -= share
                if content < 0:
                    return fault
            else:
                transport -= share
                if transport < 0:
                    return fault
        return None

    def answer(self, ask: Ask) -> str | ToolUse:
        """Return the text or tool calls for a request: by task name, by pairwise rule, or a stock phrase."""
        form = ask.body.get("response_format") or {}
        schema = form.get("json_schema", {})
        name = schema.get("name") or self._names.get(ask.opening)
        if name in self.handlers:
            reply = self.handlers[name](ask)
            return reply if isinstance(reply, str | ToolUse) else json.dumps(reply)
        if schema:
            return json.dumps(instance_of(schema["schema"]))
        pair = answers_of(ask)
        if pair is not None:
            rating = RULES[self.script.rule](ask, *pair)
            return f"<thinking>By the rule '{self.script.rule}'.</thinking><rating>{rating}</rating>"
        return f"<thinking>Nothing to weigh.</thinking><answer>Scripted answer {ask.digest[:8]}.</answer>"

    def line(self, body: dict[str, Any]) -> tuple[int, object]:
        """Return status and body of the reply to one line of a batch."""
        ask = Ask(body)
        self.log.started[ask.key] += 1
        fault = self.draw(ask.key, self.log.started[ask.key])
        status, code = STATUS_FAULTS.get(fault, (200, ""))
        if status != 200:
            return status, {"error": {"message": f"Scripted {fault}.", "code": code}}
        self.log.replied[ask.key] += 1
        return status, self.completion(ask, ask.key, fault)

    def completion(self, ask: Ask, key: str, fault: Fault | str | None) -> dict[str, Any]:
        """Return a chat completion with the given fault of content."""
        answer = fault if isinstance(fault, str) and not isinstance(fault, Fault) else self.answer(ask)
        calls = answer.as_json(ask) if isinstance(answer, ToolUse) else None
        text = "" if isinstance(answer, ToolUse) else answer
        finish, refusal = "tool_calls" if calls else "stop", None
        match fault:
            case Fault.REFUSAL:
                text, refusal = "", "I can't help with that."
            case Fault.FILTERED:
                text, finish = "", "content_filter"
            case Fault.TRUNCATED:
                text, finish, calls = text[: len(text) // 2], "length", None
            case Fault.WRONG_FORMAT:
                calls = None
                text = "Both have their merits; on balance I would go with the former."
            case _:
                pass
        content = None if refusal or calls else text
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": refusal}
        if calls:
            message["tool_calls"] = calls
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        if ask.body.get("logprobs"):
            choice["logprobs"] = {"content": logprobs_of(text), "refusal": None}
        tokens_in = sum(len(item.get("content") or "") for item in ask.messages) // 4 + 1
        returned = len(text) // 4 + 1
        usage = {
            "prompt_tokens": tokens_in,
            "completion_tokens": returned,
            "total_tokens": tokens_in + returned,
        }
        return {
            "id": f"chatcmpl-{key[:24]}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": ask.body.get("model", "scripted"),
            "choices": [choice],
            "usage": usage,
        }

    # Chat ------------------------------------------------------------------------------------

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/chat/completions`."""
        ask = Ask(await request.json())
        key, log = ask.key, self.log
        log.started[key] += 1
        log.in_flight += 1
        log.peak = max(log.peak, log.in_flight)
        log.times.append(time.monotonic())
        log.bodies.append(dict(ask.body))
        log.headers.append(dict(request.headers))
        try:
            response = await self._respond(request, ask, key, log.started[key])
            if response.status == 200 and "Scripted" not in response.headers:
                log.replied[key] += 1
            log.statuses[str(response.status)] += 1
            return response
        finally:
            log.in_flight -= 1

    async def _respond(self, request: web.Request, ask: Ask, key: str, attempt: int) -> web.StreamResponse:
        fault = self.draw(key, attempt)
        if self.script.latency:
            await asyncio.sleep(self.script.latency)
        complaint = self._complaint(ask)
        if complaint is not None:
            return error(400, "invalid_request_error", complaint)
        if fault in STATUS_FAULTS:
            status, code = STATUS_FAULTS[fault]
            after = str(self.script.retry_after) if fault is Fault.RATE_LIMIT_AFTER else None
            # Like some gateways, it repeats the key that it refuses.
            header = f" {request.headers.get('Authorization')}" if fault is Fault.UNAUTHORISED else ""
            return error(status, code, f"Scripted {fault}{header}.", retry_after=after)
        if fault is Fault.HANG:
            await asyncio.sleep(3_600)
        if fault is Fault.DROP:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=599)
        if fault is Fault.MALFORMED:
            headers = {"Scripted": "malformed"}
            return web.Response(text='{"choices": [{"mess', content_type="application/json", headers=headers)
        return web.json_response(self.completion(ask, key, fault))

    def _complaint(self, ask: Ask) -> str | None:
        """Return the endpoint's error about an unsupported feature of a request, if any."""
        form = ask.body.get("response_format")
        if form and not self.script.response_format:
            self._names[ask.opening] = form["json_schema"]["name"]
            return "Unsupported parameter: 'response_format'."
        if ask.body.get("tools") and not self.script.tools:
            return "This model does not support tools."
        if "logprobs" in ask.body and not self.script.logprobs:
            return "This model does not return logprobs."
        return None

    async def models(self, _request: web.Request) -> web.Response:
        """`GET /v1/models`."""
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    # Other processes ---------------------------------------------------------------------------

    async def show_log(self, _request: web.Request) -> web.Response:
        """`GET /scripted/log`."""
        return web.json_response({"calls": self.log.calls})

    async def change_script(self, request: web.Request) -> web.Response:
        """`POST /scripted/script`: the fields of `Script` to change."""
        changes = await request.json()
        self.script = dataclasses.replace(self.script, **changes)
        return web.json_response(dataclasses.asdict(self.script))

    def application(self) -> web.Application:
        """Return the application."""
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/v1/models", self.models)
        app.add_routes(self._batches.routes())
        app.router.add_get("/scripted/log", self.show_log)
        app.router.add_post("/scripted/script", self.change_script)
        return app

    def run(self) -> None:
        """Serve until interrupted, and print the address."""

        def ready() -> None:
            print(self.url, flush=True)  # noqa: T201 - the parent reads the address

        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._serve(ready, asyncio.Event()))

    async def _serve(self, ready: Callable[[], None], stop: asyncio.Event) -> None:
        runner = web.AppRunner(
            self.application(), access_log=None, shutdown_timeout=0.05, handler_cancellation=True
        )
        await runner.setup()
        site = web.TCPSite(runner, self.host, self.port, backlog=2_048)
        await site.start()
        self.port = runner.addresses[0][1]
        ready()
        try:
            await stop.wait()
        finally:
            await runner.cleanup()

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """Serve from a thread until the block ends."""
        ready, stop, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()

        def run() -> None:
            loop.run_until_complete(self._serve(ready.set, stop))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

        thread = threading.Thread(target=run, name="scripted-llm", daemon=True)
        thread.start()
        if not ready.wait(10):
            message = "The scripted endpoint did not start."
            raise RuntimeError(message)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(10)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted, OpenAI-compatible LLM endpoint.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args()
    server = ScriptedLLM(Script(latency=options.latency), host=options.host, port=options.port)
    server.run()


if __name__ == "__main__":
    main()
