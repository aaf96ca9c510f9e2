"""OpenAI's batch files, at half the price and within a day.

Requests are collected until none arrives for a moment, and sent as one batch. A `BatchJournal` records the
batch before the provider is called, and its id afterwards, so that a crash loses no batch: the next run finds
it by id or by name, waits for it, and uses its replies for the same requests. The record is deleted once the
reply cache has the replies.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from data.errors import StoppedError
from data.models import Reply
from judges.llm.chat_format import QuirkMemory
from judges.llm.errors import SERVER_STATUS, CallError, CallErrorKind, fault_of_status
from judges.llm.reply_size import MAX_LIMIT, Incoming, lines_of, receiving, reply_limit, too_large
from judges.llm.requests import ReplyCache, Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import OpenAIClients, as_faults

if TYPE_CHECKING:
    from openai.types import Batch

PATH = "/v1/chat/completions"
MAX_BYTES = 150_000_000
OK = 200
TOO_MUCH_QUEUED = "token_limit_exceeded"

Answer = Mapping[str, Any] | CallError
"""The provider's chat completion, or an error."""


def line_of(request: Request, body: Mapping[str, Any]) -> str:
    """Return a request as a line of a batch file, identified by its key."""
    line = {"custom_id": request.key, "method": "POST", "url": PATH, "body": body}
    return json.dumps(line, ensure_ascii=False)


def files_of(requests: Iterable[Request], maximum: int) -> Iterator[list[Request]]:
    """Split requests into files by endpoint and model, within the limits of requests and bytes."""
    groups: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        groups.setdefault((request.endpoint, request.model), []).append(request)
    for group in groups.values():
        file, size = list[Request](), 0
        for request in group:
            length = len(request.canonical.encode())
            if file and (len(file) >= maximum or size + length > MAX_BYTES):
                yield file
                file, size = [], 0
            file.append(request)
            size += length
        yield file


def answer_of(line: bytes) -> tuple[str, Answer] | None:
    """Parse a line of an output or error file as a request's key and answer; None for other lines."""
    try:
        row = json.loads(line)
        key, response, error = row["custom_id"], row.get("response") or {}, row.get("error")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    if not isinstance(response, Mapping):
        response = {"status_code": SERVER_STATUS, "body": response}
    body, status = response.get("body"), response.get("status_code")
    if response.get("status_code") == OK and isinstance(body, Mapping):
        return key, body
    if response:
        return key, fault_of_status(status if isinstance(status, int) else SERVER_STATUS, body, {})
    return key, CallError(CallErrorKind.TRANSIENT, f"The batch did not process this request: {error}")


def ending_of(batch: Batch, wait: float) -> CallError:
    """Return the error of requests without an answer in a finished batch."""
    first = next(iter((batch.errors and batch.errors.data) or ()), None)
    reason = f" ({first.message})" if first and first.message else ""
    detail = f"Batch {batch.id} ended as {batch.status}{reason} without an answer"
    if first and first.code == TOO_MUCH_QUEUED:
        return CallError(CallErrorKind.RATE_LIMITED, detail, retry_after=wait)
    again = batch.status in {"completed", "expired"}
    return CallError(CallErrorKind.TRANSIENT if again else CallErrorKind.FATAL, detail)


def content_of(requests: Sequence[Request], bodies: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the content of a batch file, with bodies by request key."""
    return "\n".join(line_of(request, bodies[request.key]) for request in requests).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch in the journal.

    Attributes:
        name: Our unique name, also stored at the provider.
        endpoint: Base URL.
        keys: Keys of its requests.
        batch_id: The provider's id; empty until known.
    """

    name: str
    endpoint: str
    keys: tuple[str, ...]
    batch_id: str = ""


class BatchJournal(Protocol):
    """Batches without all replies in the cache; each method returns once committed."""

    async def write(self, record: BatchRecord) -> None:
        """Insert or update a batch by name."""
        ...

    async def unread(self) -> Sequence[BatchRecord]:
        """Return all batches that are not deleted."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a batch whose replies are cached or that was never created."""
        ...


NAME_FIELD = "answer_arena"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
SEARCHED_BATCHES = 1_000
LOOKS_A_GATHERING = 4


class BatchTransport:
    """Collects requests into batches; `send` returns when its batch is finished."""

    unlimited = True

    def __init__(self, settings: AccessSettings, journal: BatchJournal, cache: ReplyCache | None) -> None:
        self._settings = settings
        self._journal = journal
        self._cache = cache
        self._clients = OpenAIClients(settings)
        self._quirks = QuirkMemory()
        self._bodies: dict[str, dict[str, Any]] = {}
        self._limits: dict[str, int] = {}
        self._collected: dict[str, Request] = {}
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        self._delivered: set[str] = set()
        self._read: list[BatchRecord] = []
        self._last = 0.0
        self._gatherer: asyncio.Task[None] | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, request: Request) -> Reply:
        """Wait for the request's batch and return its reply.

        Raises:
            CallError: The batch or the request failed.
            StoppedError: Judging was stopped; the batch continues, and the next run finds it.
        """
        if request.tools:
            # Each turn would wait for its own batch; callers fall back to prompts without tools.
            raise CallError(CallErrorKind.REJECTED, "Batches do not support tools.")
        if self._recovery is None or _failed(self._recovery):
            with receiving(None):
                self._recovery = asyncio.create_task(self._recover())
        await asyncio.shield(self._recovery)

        async def post(body: dict[str, Any]) -> object:
            self._bodies[request.key], self._limits[request.key] = body, reply_limit(request.sampling)
            future = self._waiting.get(request.key) or self._gather(request)
            answer = await asyncio.shield(future)
            self._waiting.pop(request.key, None)
            self._bodies.pop(request.key, None)
            self._delivered.add(request.key)
            if isinstance(answer, CallError):
                raise answer
            return answer

        # Tasks that start here outlive this request.
        with receiving(None):
            return await self._quirks.send(request, post)

    def _gather(self, request: Request) -> asyncio.Future[Answer]:
        future = self._waiting[request.key] = asyncio.get_running_loop().create_future()
        self._collected[request.key] = request
        self._last = time.monotonic()
        if self._gatherer is None:
            self._gatherer = asyncio.create_task(self._dispatch())
        return future

    async def _dispatch(self) -> None:
        """Send the collected requests after a quiet moment, or when the batch is full."""
        settings = self._settings
        while self._collected:
            quiet = time.monotonic() - self._last >= settings.batch_gather
            if not quiet and len(self._collected) < settings.batch_size:
                await asyncio.sleep(settings.batch_gather / LOOKS_A_GATHERING)
                continue
            collected, self._collected = self._collected, {}
            for file in files_of(collected.values(), settings.batch_size):
                self._start(self._carry(file), [request.key for request in file])
        self._gatherer = None

    # One batch -------------------------------------------------------------------------------

    async def _carry(self, requests: Sequence[Request]) -> None:
        keys = tuple(request.key for request in requests)
        record = BatchRecord(name=f"arena-{uuid4().hex}", endpoint=requests[0].endpoint, keys=keys)
        await self._journal.write(record)
        try:
            record = replace(record, batch_id=await self._create(record, content_of(requests, self._bodies)))
        except CallError:
            # The provider may have created the batch although its response was lost.
            existing = await self._find(record)
            if existing is None:
                raise
            record = existing
        await self._journal.write(record)
        await self._await(record)

    async def _create(self, record: BatchRecord, content: bytes) -> str:
        client = self._clients.get(record.endpoint)
        with as_faults(self._settings.timeout):
            file = await client.files.create(file=(f"{record.name}.jsonl", content), purpose="batch")
            batch = await client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={NAME_FIELD: record.name},
            )
        return batch.id

    async def _await(self, record: BatchRecord) -> None:
        batch = await self._poll(record)
        while batch.status not in ENDED:
            await asyncio.sleep(self._settings.batch_poll)
            batch = await self._poll(record)
        missing = ending_of(batch, self._settings.batch_poll)
        with receiving(Incoming(len(record.keys) * MAX_LIMIT)):
            missing = await self._read_answers(record.endpoint, batch) or missing
        for key in record.keys:
            self._settle(key, missing)
        self._read.append(record)

    async def _poll(self, record: BatchRecord) -> Batch:
        """Return the batch's state; wait during outages, because the batch continues."""
        faults = 0
        while True:
            try:
                with as_faults(self._settings.timeout):
                    return await self._clients.get(record.endpoint).batches.retrieve(record.batch_id)
            except CallError as fault:
                faults += 1
                transient = fault.kind in {CallErrorKind.TRANSIENT, CallErrorKind.RATE_LIMITED}
                if not transient or faults >= self._settings.attempts:
                    raise
                await asyncio.sleep(fault.retry_after or self._settings.batch_poll)

    async def _read_answers(self, endpoint: str, batch: Batch) -> CallError | None:
        fault = None
        files = self._clients.get(endpoint).files.with_streaming_response
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            with as_faults(self._settings.timeout):
                async with files.content(file_id) as content:
                    async for line in lines_of(content.iter_bytes()):
                        if len(line) > MAX_LIMIT:
                            fault = too_large(MAX_LIMIT, line)
                        elif (answer := answer_of(line)) is not None:
                            key, limit = answer[0], self._limits.pop(answer[0], MAX_LIMIT)
                            self._settle(key, answer[1] if len(line) <= limit else too_large(limit, line))
        return fault

    def _settle(self, key: str, answer: Answer | Exception) -> None:
        future = self._waiting.get(key)
        if future is None or future.done():
            return
        if isinstance(answer, Exception) and not isinstance(answer, CallError):
            future.set_exception(answer)
            future.exception()  # Marks it as retrieved if no caller waits yet.
        else:
            future.set_result(answer)

    # Earlier runs ----------------------------------------------------------------------------

    async def _recover(self) -> None:
        """Wait for batches of earlier runs, and delete records of cached and uncreated batches."""
        loop = asyncio.get_running_loop()
        for entry in await self._journal.unread():
            cached = {} if self._cache is None else await self._cache.get_many(entry.keys)
            record = None if len(cached) == len(entry.keys) else await self._find(entry)
            if record is None:
                await self._journal.delete(entry.name)
                continue
            for key in record.keys:
                self._waiting.setdefault(key, loop.create_future())
            self._delivered.update(cached)
            self._start(self._await_again(record), record.keys)

    async def _await_again(self, record: BatchRecord) -> None:
        """Wait for an earlier run's batch; if it cannot be read, its requests are sent again."""
        try:
            await self._await(record)
        except CallError as fault:
            if fault.kind is CallErrorKind.FATAL:
                await self._journal.delete(record.name)
            again = CallError(CallErrorKind.TRANSIENT, f"An earlier batch cannot be read: {fault.detail}")
            for key in record.keys:
                self._settle(key, again)

    async def _find(self, record: BatchRecord) -> BatchRecord | None:
        if record.batch_id:
            return record
        searched = 0
        with as_faults(self._settings.timeout):
            async for batch in self._clients.get(record.endpoint).batches.list(limit=100):
                if (batch.metadata or {}).get(NAME_FIELD) == record.name:
                    with_id = replace(record, batch_id=batch.id)
                    await self._journal.write(with_id)
                    return with_id
                searched += 1
                if searched >= SEARCHED_BATCHES:
                    break
        return None

    # Tasks -----------------------------------------------------------------------------------

    def _start(self, work: Coroutine[None, None, None], keys: Iterable[str]) -> None:
        """Run a batch in the background; errors go to the waiting callers."""

        async def run() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - passed on to the waiting callers
                for key in keys:
                    self._settle(key, error)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Stop waiting; sent batches continue at the provider, collected requests are not sent."""
        self._collected.clear()
        for key in list(self._waiting):
            self._settle(key, StoppedError("Judging was stopped.", advice="Resume to wait for the batch."))

    async def close(self) -> None:
        """Delete records of cached batches, stop polling and close all clients."""
        tasks = [*self._tasks, *(task for task in (self._gatherer, self._recovery) if task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for record in self._read:
            if self._delivered.issuperset(record.keys):
                await self._journal.delete(record.name)
        await self._clients.close()


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
