"""Serves the modes: the model that is asked for names the mode."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web

from tests.providers import (
    anthropic,
    azure,
    deepseek,
    gateway,
    gemini,
    llama_cpp,
    ollama,
    openai,
    openrouter,
    vllm,
)
from tests.providers.base import Answer, Call, Mode
from tests.scripted_batches import Batches
from tests.scripted_replies import Script

PROVIDERS = {
    "OpenAI": openai.MODES,
    "Anthropic": anthropic.MODES,
    "Azure": azure.MODES,
    "Gemini": gemini.MODES,
    "OpenRouter": openrouter.MODES,
    "DeepSeek": deepseek.MODES,
    "vLLM, SGLang": vllm.MODES,
    "Ollama": ollama.MODES,
    "llama.cpp": llama_cpp.MODES,
    "Gateways": gateway.MODES,
}
MODES: Mapping[str, Mode] = {mode.name: mode for modes in PROVIDERS.values() for mode in modes}


class ScriptedProviders:
    """An endpoint of all modes; `bodies` are what was asked, `calls` how often each mode was."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host, self.port = host, port
        self.calls: Counter[str] = Counter()
        self.bodies: list[Mapping[str, Any]] = []
        self.script = Script(batch_polls=0)
        self._batches = Batches(self)

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://{self.host}:{self.port}/v1"

    def reset(self) -> None:
        """Begin every mode again."""
        self.calls.clear()
        self.bodies.clear()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/chat/completions`."""
        answer = self._answer(await request.json(), request.headers)
        if answer.dropped and request.transport is not None:
            request.transport.abort()
        headers = {**answer.headers, "Content-Type": answer.content_type}
        return web.Response(body=answer.raw, status=answer.status, headers=headers)

    def line(self, body: dict[str, Any]) -> tuple[int, object]:
        """The status and body of the reply to one line of a batch."""
        answer = self._answer(body, {})
        try:
            return answer.status, json.loads(answer.raw)
        except ValueError:
            return answer.status, answer.raw.decode(errors="replace")

    def _answer(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Answer:
        self.bodies.append(body)
        name = str(body.get("model"))
        if name not in MODES:
            return Answer({"error": {"message": f"There is no mode {name}."}}, 404)
        self.calls[name] += 1
        return MODES[name].answer(Call(body, dict(headers), self.calls[name]))

    async def models(self, _: web.Request) -> web.Response:
        """`GET /v1/models`."""
        return web.json_response(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in MODES]}
        )

    async def forget(self, _: web.Request) -> web.Response:
        """`POST /scripted/reset`."""
        self.reset()
        return web.json_response({})

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        """Serve until stopped."""
        app = web.Application(client_max_size=2**26)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self.chat),
                web.get("/v1/models", self.models),
                *self._batches.routes(),
                web.post("/scripted/reset", self.forget),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
        await runner.setup()
        await web.TCPSite(runner, self.host, self.port).start()
        self.port = runner.addresses[0][1]
        ready.set()
        try:
            await stop.wait()
        finally:
            await runner.cleanup()

    @contextlib.contextmanager
    def running(self) -> Iterator[ScriptedProviders]:
        """Serve from a thread of its own until the block ends."""
        ready, stop, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()
        thread = threading.Thread(
            target=lambda: loop.run_until_complete(self.serve(ready, stop)), daemon=True
        )
        thread.start()
        if not ready.wait(10):
            message = "The scripted providers did not start."
            raise RuntimeError(message)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(10)
            loop.close()


def table() -> str:
    """The modes as a table of Markdown, which is the documentation."""
    lines = []
    for provider, modes in PROVIDERS.items():
        lines += [
            f"## {provider}",
            "",
            "| Model | The endpoint | A battle is | Not sent |",
            "|---|---|---|---|",
        ]
        for mode in modes:
            kept = ", ".join(f"`{name}`" for name in mode.left_out.split(", ")) if mode.left_out else ""
            booked = "; the most that it may cost counts as lost" if mode.lost else ""
            lines.append(f"| `{mode.name}` | {mode.about} | {mode.end}{booked} | {kept} |")
        lines.append("")
    return "\n".join(lines).strip() + "\n"
