"""Files and batches of the scripted LLM endpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.scripted_log import error

if TYPE_CHECKING:
    from tests.scripted_llm import ScriptedLLM


class Batches:
    """Uploaded files, and batches that are answered after a few polls."""

    def __init__(self, endpoint: ScriptedLLM) -> None:
        self._endpoint = endpoint
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._batches)

    def routes(self) -> list[web.RouteDef]:
        """Return the routes under `/v1/files` and `/v1/batches`."""
        return [
            web.post("/v1/files", self.upload),
            web.get("/v1/files/{name}/content", self.content),
            web.post("/v1/batches", self.create_batch),
            web.get("/v1/batches", self.list_batches),
            web.get("/v1/batches/{name}", self.batch),
        ]

    async def upload(self, request: web.Request) -> web.Response:
        """`POST /v1/files`."""
        form = await request.post()
        sent = form["file"]
        if not isinstance(sent, web.FileField):
            return error(400, "invalid_request_error", "'file' is no file.")
        content = sent.file.read()
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
        if batch["polls"] > self._endpoint.script.batch_polls and batch["status"] == "in_progress":
            self._finish(batch)
        return web.json_response(batch)

    def _finish(self, batch: dict[str, Any]) -> None:
        batch["status"] = self._endpoint.script.batch_end
        if not self._endpoint.script.batch_output:
            return
        good: list[str] = []
        bad: list[str] = []
        for line in self._files[batch["input_file_id"]].decode().splitlines():
            item = json.loads(line)
            status, body = self._endpoint.line(item["body"])
            result = {
                "id": f"line-{item['custom_id'][:8]}",
                "custom_id": item["custom_id"],
                "response": {"status_code": status, "body": body},
                "error": None,
            }
            (good if status == 200 else bad).append(json.dumps(result))
        if good:
            batch["output_file_id"] = self._keep("\n".join(good).encode())["id"]
        if bad:
            batch["error_file_id"] = self._keep("\n".join(bad).encode())["id"]
