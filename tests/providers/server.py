"""Server of the modes; a request's model selects the mode."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.providers.base import Answer, Call, Mode
from tests.providers.modes import PROVIDERS
from tests.scripted_llm import ScriptedLLM
from tests.scripted_replies import Script

MODES: Mapping[str, Mode] = {mode.name: mode for modes in PROVIDERS.values() for mode in modes}


class ScriptedProviders(ScriptedLLM):
    """Scripted endpoint, in which the model's name selects a mode.

    `bodies` are the requests since the last `reset`, `calls` their number by mode.
    """

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(Script(batch_polls=0), port=port)
        self.calls: Counter[str] = Counter()
        self.bodies: list[Mapping[str, Any]] = []

    def reset(self) -> None:
        """Reset every mode."""
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
        """Return status and body of the reply to one line of a batch."""
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


def table() -> str:
    """Return the modes as a Markdown table for the documentation."""
    lines = []
    for provider, modes in PROVIDERS.items():
        heads = ["| Model | The endpoint | A battle is | Not sent |", "|---|---|---|---|"]
        lines += [f"## {provider}", "", *heads]
        for mode in modes:
            names = ", ".join(f"`{name}`" for name in mode.left_out.split(", ")) if mode.left_out else ""
            booked = "; the most that it may cost counts as lost" if mode.lost else ""
            lines.append(f"| `{mode.name}` | {mode.about} | {mode.end}{booked} | {names} |")
        lines.append("")
    return "\n".join(lines).strip() + "\n"
