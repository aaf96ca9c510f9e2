"""A scripted LLM endpoint: OpenAI-compatible, deterministic, and faulty on demand.

Inside tests, use the `scripted_llm` fixture. For other processes, run it as a program:

    python tests/scripted_llm.py --port 8010 --latency 0.05 --fault rate_limit=0.1 --fault drop=0.02

It serves `/v1/chat/completions`, `/v1/models`, `/v1/files` and `/v1/batches`; `GET /scripted/log`
tells what was asked, `POST /scripted/script` changes the script, `POST /scripted/reset` forgets the
log. Faults of transport (429, 500, hang, drop, malformed) are drawn afresh at each attempt, those of
content (refusal, filtered, truncated, wrong format) belong to the request: asking again changes
nothing. Both come from a hash of the request, so two processes see the same faults.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import web
from scripted_replies import (
    RULES,
    STATUS_FAULTS,
    Ask,
    Fault,
    Handler,
    Script,
    answers_of,
    chance,
    instance_of,
    logprobs_of,
)

__all__ = ["RULES", "Ask", "Fault", "Log", "Script", "ScriptedLLM"]


class Log:
    """What was asked: per key, how often a call began and how often a reply was sent."""

    def __init__(self) -> None:
        self.started: Counter[str] = Counter()
        self.replied: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.times: deque[float] = deque(maxlen=100_000)
        self.bodies: deque[dict[str, Any]] = deque(maxlen=2_000)
        self.headers: deque[dict[str, str]] = deque(maxlen=100)
        self.in_flight = 0
        self.peak = 0

    @property
    def calls(self) -> int:
        """Calls that began."""
        return self.started.total()

    @property
    def asked_twice(self) -> dict[str, int]:
        """The keys whose reply was sent more than once."""
        return {key: count for key, count in self.replied.items() if count > 1}

    def as_json(self) -> dict[str, Any]:
        """The counts, for other processes."""
        return {
            "calls": self.calls,
            "replies": self.replied.total(),
            "requests": len(self.started),
            "asked_twice": self.asked_twice,
            "statuses": dict(self.statuses),
            "peak": self.peak,
            "started": dict(self.started),
            "replied": dict(self.replied),
        }


class ScriptedLLM:
    """The endpoint. Its script may be changed and its log read while it serves."""

    def __init__(self, script: Script | None = None, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script = script or Script()
        self.log = Log()
        self.handlers: dict[str, Handler] = {}
        self.text_handler: Handler | None = None
        self.host, self.port = host, port
        self._names: dict[str, str] = {}
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://{self.host}:{self.port}/v1"

    @property
    def batches(self) -> int:
        """Batches that were created."""
        return len(self._batches)

    def reset(self) -> None:
        """Forget what was asked."""
        self.log = Log()

    # What is replied -------------------------------------------------------------------------

    def draw(self, key: str, attempt: int) -> Fault | str | None:
        """The fault that this call meets, or the scripted text, or nothing."""
        script = self.script
        if script.first:
            item = script.first.pop(0)
            return Fault(item) if item in Fault.__members__.values() else item
        if script.capacity is not None and self.log.in_flight > script.capacity:
            return Fault.RATE_LIMIT
        transport, content = chance(script.seed, key, attempt), chance(script.seed, key)
        for fault, share in script.faults.items():
            if fault.of_content:
                content -= share
                if content < 0:
                    return fault
            elif script.fault_attempts is None or attempt <= script.fault_attempts:
                transport -= share
                if transport < 0:
                    return fault
        return None

    def answer(self, ask: Ask) -> str:
        """The text for a request: by task name, by pairwise rule, or a stock phrase."""
        form = ask.body.get("response_format") or {}
        schema = form.get("json_schema", {})
        name = schema.get("name") or self._names.get(ask.opening, "")
        if name in self.handlers:
            reply = self.handlers[name](ask)
            return reply if isinstance(reply, str) else json.dumps(reply)
        if schema:
            return json.dumps(instance_of(schema["schema"]))
        pair = answers_of(ask)
        if pair is not None:
            rating = RULES[self.script.rule](ask, *pair)
            return f"<thinking>By the rule '{self.script.rule}'.</thinking><rating>{rating}</rating>"
        if self.text_handler is not None:
            return str(self.text_handler(ask))
        return f"<thinking>Nothing to weigh.</thinking><answer>Scripted answer {ask.digest[:8]}.</answer>"

    def completion(self, ask: Ask, key: str, drawn: Fault | str | None) -> dict[str, Any]:
        """A chat completion, with the fault of content that was drawn."""
        text = drawn if isinstance(drawn, str) and not isinstance(drawn, Fault) else self.answer(ask)
        finish, refusal = "stop", None
        match drawn:
            case Fault.REFUSAL:
                text, refusal = "", "I can't help with that."
            case Fault.FILTERED:
                text, finish = "", "content_filter"
            case Fault.TRUNCATED:
                text, finish = text[: len(text) // 2], "length"
            case Fault.WRONG_FORMAT:
                text = "Both have their merits; on balance I would go with the former."
            case _:
                pass
        message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        if ask.body.get("logprobs"):
            choice["logprobs"] = {"content": logprobs_of(text), "refusal": None}
        given = sum(len(item.get("content") or "") for item in ask.messages) // 4 + 1
        returned = len(text) // 4 + 1
        usage = {"prompt_tokens": given, "completion_tokens": returned, "total_tokens": given + returned}
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
        drawn = self.draw(key, attempt)
        if self.script.latency:
            await asyncio.sleep(self.script.latency)
        complaint = self._complaint(ask)
        if complaint is not None:
            return error(400, "invalid_request_error", complaint)
        if drawn in STATUS_FAULTS:
            status, code = STATUS_FAULTS[drawn]
            after = str(self.script.retry_after) if drawn is Fault.RATE_LIMIT_AFTER else None
            return error(status, code, f"Scripted {drawn}.", retry_after=after)
        if drawn is Fault.HANG:
            await asyncio.sleep(3_600)
        if drawn is Fault.DROP:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=599)
        if drawn is Fault.MALFORMED:
            headers = {"Scripted": "malformed"}
            return web.Response(text='{"choices": [{"mess', content_type="application/json", headers=headers)
        return web.json_response(self.completion(ask, key, drawn))

    def _complaint(self, ask: Ask) -> str | None:
        """What this endpoint does not support in a request."""
        form = ask.body.get("response_format")
        if form and not self.script.response_format:
            self._names[ask.opening] = form["json_schema"]["name"]
            return "Unsupported parameter: 'response_format'."
        if "max_tokens" in ask.body and not self.script.legacy_max_tokens:
            return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        if "logprobs" in ask.body and not self.script.logprobs:
            return "This model does not return logprobs."
        return None

    async def models(self, _request: web.Request) -> web.Response:
        """`GET /v1/models`."""
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    # Files and batches -----------------------------------------------------------------------

    async def upload(self, request: web.Request) -> web.Response:
        """`POST /v1/files`."""
        form = await request.post()
        content = form["file"].file.read()
        return web.json_response(self._keep(content))

    def _keep(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self._files) + 1}"
        self._files[name] = content
        return {
            "id": name,
            "object": "file",
            "bytes": len(content),
            "created_at": 1_700_000_000,
            "filename": f"{name}.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    async def content(self, request: web.Request) -> web.Response:
        """`GET /v1/files/{name}/content`."""
        name = request.match_info["name"]
        if name not in self._files:
            return error(404, "not_found", f"No file {name}.")
        return web.Response(body=self._files[name])

    async def create_batch(self, request: web.Request) -> web.Response:
        """`POST /v1/batches`."""
        body = await request.json()
        name = f"batch_{len(self._batches) + 1}"
        self._batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "completion_window": body["completion_window"],
            "metadata": body.get("metadata"),
            "created_at": 1_700_000_000,
            "status": "in_progress",
            "polls": 0,
        }
        return web.json_response(self._batches[name])

    async def list_batches(self, _request: web.Request) -> web.Response:
        """`GET /v1/batches`."""
        data = list(reversed(self._batches.values()))
        return web.json_response({"object": "list", "data": data, "has_more": False})

    async def batch(self, request: web.Request) -> web.Response:
        """`GET /v1/batches/{name}`."""
        name = request.match_info["name"]
        if name not in self._batches:
            return error(404, "not_found", f"No batch {name}.")
        batch = self._batches[name]
        batch["polls"] += 1
        if batch["polls"] > self.script.batch_polls and batch["status"] == "in_progress":
            self._finish(batch)
        return web.json_response(batch)

    def _finish(self, batch: dict[str, Any]) -> None:
        batch["status"] = self.script.batch_end
        if not self.script.batch_output:
            return
        good, bad = [], []
        for line in self._files[batch["input_file_id"]].decode().splitlines():
            item = json.loads(line)
            ask = Ask(item["body"])
            self.log.started[ask.key] += 1
            drawn = self.draw(ask.key, self.log.started[ask.key])
            status, code = STATUS_FAULTS.get(drawn, (200, ""))
            if status == 200:
                self.log.replied[ask.key] += 1
            body = (
                {"error": {"message": f"Scripted {drawn}.", "code": code}}
                if status != 200
                else self.completion(ask, ask.key, drawn)
            )
            result = {
                "id": f"line-{ask.key[:8]}",
                "custom_id": item["custom_id"],
                "response": {"status_code": status, "body": body},
                "error": None,
            }
            (good if status == 200 else bad).append(json.dumps(result))
        if good:
            batch["output_file_id"] = self._keep("\n".join(good).encode())["id"]
        if bad:
            batch["error_file_id"] = self._keep("\n".join(bad).encode())["id"]

    # For other processes ---------------------------------------------------------------------

    async def show_log(self, _request: web.Request) -> web.Response:
        """`GET /scripted/log`."""
        return web.json_response(self.log.as_json())

    async def change_script(self, request: web.Request) -> web.Response:
        """`POST /scripted/script`: the fields of `Script` to change."""
        changes = await request.json()
        self.script = dataclasses.replace(self.script, **changes)
        return web.json_response(dataclasses.asdict(self.script))

    async def forget(self, _request: web.Request) -> web.Response:
        """`POST /scripted/reset`."""
        self.reset()
        return web.json_response({})

    def application(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=2**30)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self.chat),
                web.get("/v1/models", self.models),
                web.post("/v1/files", self.upload),
                web.get("/v1/files/{name}/content", self.content),
                web.post("/v1/batches", self.create_batch),
                web.get("/v1/batches", self.list_batches),
                web.get("/v1/batches/{name}", self.batch),
                web.get("/scripted/log", self.show_log),
                web.post("/scripted/script", self.change_script),
                web.post("/scripted/reset", self.forget),
            ]
        )
        return app

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
    def running(self) -> Iterator[ScriptedLLM]:
        """Serve from a thread of its own until the block ends."""
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


def error(status: int, code: str, message: str, *, retry_after: str | None = None) -> web.Response:
    """An error body as OpenAI shapes it."""
    headers = {"Retry-After": retry_after} if retry_after is not None else None
    body = {"error": {"message": message, "type": code, "code": code, "param": None}}
    return web.json_response(body, status=status, headers=headers)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted, OpenAI-compatible LLM endpoint.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--rule", choices=sorted(RULES), default="longer")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=SHARE")
    parser.add_argument("--fault-attempts", type=int, default=None)
    parser.add_argument("--capacity", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faults = {Fault(name): float(share) for name, share in (item.split("=") for item in options.fault)}
    server = ScriptedLLM(
        Script(
            latency=options.latency,
            rule=options.rule,
            faults=faults,
            fault_attempts=options.fault_attempts,
            capacity=options.capacity,
            seed=options.seed,
        ),
        host=options.host,
        port=options.port,
    )

    async def serve() -> None:
        def ready() -> None:
            print(server.url, flush=True)  # noqa: T201 - whoever started it reads the address

        await server._serve(ready, asyncio.Event())

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


if __name__ == "__main__":
    main()
