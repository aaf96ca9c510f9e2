"""Provider batches: OpenAI's batch files, at half the price and within a day.

Requests that wait together travel together: whatever was asked until nothing new came for a moment
becomes one file and one batch. Before the provider is called, the batch and its requests are written
down in a `BatchJournal`; when it answers, so is its id. A crash at any moment therefore loses no batch:
the next run finds the id in the journal, or the batch itself by the name it was created under, waits for
it, and hands its replies to whoever asks the same requests again. A batch is deleted from the journal
once the reply cache has its replies.
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
from judges.llm.chat_format import Learnt
from judges.llm.errors import SERVER_STATUS, CallError, CallErrorKind, fault_of_status
from judges.llm.reply_size import MAX_LIMIT, Incoming, lines_of, receiving, reply_limit, too_large
from judges.llm.requests import ReplyCache, Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import OpenAIClients, as_faults

if TYPE_CHECKING:
    from openai.types import Batch

PATH = "/v1/chat/completions"
MOST_BYTES = 150_000_000
OK = 200
TOO_MUCH_QUEUED = "token_limit_exceeded"

Answer = Mapping[str, Any] | CallError
"""The provider's chat completion, or why there is none."""


def line_of(request: Request, body: Mapping[str, Any]) -> str:
    """Return a request's body as a line of a batch file; its key comes back with the answer."""
    line = {"custom_id": request.key, "method": "POST", "url": PATH, "body": body}
    return json.dumps(line, ensure_ascii=False)


def files_of(requests: Iterable[Request], most: int) -> Iterator[list[Request]]:
    """Cut requests into files: one endpoint and model each, no more requests or bytes than allowed."""
    groups: dict[tuple[str, str], list[Request]] = {}
    for request in requests:
        groups.setdefault((request.endpoint, request.model), []).append(request)
    for group in groups.values():
        file, size = list[Request](), 0
        for request in group:
            length = len(request.canonical.encode())
            if file and (len(file) >= most or size + length > MOST_BYTES):
                yield file
                file, size = [], 0
            file.append(request)
            size += length
        yield file


def answer_of(line: bytes) -> tuple[str, Answer] | None:
    """Return the answer in a line of an output or error file, with its request's key; None of other lines."""
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
    return key, CallError(CallErrorKind.TRANSIENT, f"The batch left this request out: {error}")


def ending_of(batch: Batch, wait: float) -> CallError:
    """Return the reason why a request of an ended batch has no answer."""
    first = next(iter((batch.errors and batch.errors.data) or ()), None)
    reason = f" ({first.message})" if first and first.message else ""
    detail = f"Batch {batch.id} ended as {batch.status}{reason} without an answer"
    if first and first.code == TOO_MUCH_QUEUED:
        return CallError(CallErrorKind.RATE_LIMITED, detail, retry_after=wait)
    again = batch.status in {"completed", "expired"}
    return CallError(CallErrorKind.TRANSIENT if again else CallErrorKind.FATAL, detail)


def content_of(requests: Sequence[Request], bodies: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the file of a batch, from the bodies by request key."""
    return "\n".join(line_of(request, bodies[request.key]) for request in requests).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch as it stands in the journal.

    Attributes:
        name: Ours, unique; stored with the batch at the provider.
        endpoint: Base URL.
        keys: The keys of its requests.
        batch_id: The provider's; empty until it is known.
    """

    name: str
    endpoint: str
    keys: tuple[str, ...]
    batch_id: str = ""


class BatchJournal(Protocol):
    """Batches that were sent and whose replies are not all kept; each method returns once committed."""

    async def write(self, record: BatchRecord) -> None:
        """Write a batch down, or what is known of it now (by name)."""
        ...

    async def unread(self) -> Sequence[BatchRecord]:
        """Every batch whose record was not deleted."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a batch's record: its replies are kept, or it never came to be."""
        ...


NAME_FIELD = "answer_arena"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
SEARCHED_BATCHES = 1_000
LOOKS_A_GATHERING = 4


class BatchTransport:
    """Gathers requests into batches and waits for them; `send` returns when its batch has ended."""

    unlimited = True

    def __init__(self, settings: AccessSettings, journal: BatchJournal, cache: ReplyCache | None) -> None:
        self._settings = settings
        self._journal = journal
        self._cache = cache
        self._clients = OpenAIClients(settings)
        self._learnt = Learnt()
        self._bodies: dict[str, dict[str, Any]] = {}
        self._limits: dict[str, int] = {}
        self._gathered: dict[str, Request] = {}
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        self._handed_out: set[str] = set()
        self._read: list[BatchRecord] = []
        self._last = 0.0
        self._gatherer: asyncio.Task[None] | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, request: Request) -> Reply:
        """Wait for the request's batch and return its reply.

        Raises:
            CallError: The batch, or this request of it, gave none.
            StoppedError: No request waits any more; the batch goes on, and the next run finds it.
        """
        if request.tools:
            # Each turn would wait for a batch of its own; whoever asks has a way without tools.
            raise CallError(CallErrorKind.REJECTED, "Tools are not called in batches.")
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
            self._handed_out.add(request.key)
            if isinstance(answer, CallError):
                raise answer
            return answer

        # What starts here outlives this request.
        with receiving(None):
            return await self._learnt.send(request, post)

    def _gather(self, request: Request) -> asyncio.Future[Answer]:
        future = self._waiting[request.key] = asyncio.get_running_loop().create_future()
        self._gathered[request.key] = request
        self._last = time.monotonic()
        if self._gatherer is None:
            self._gatherer = asyncio.create_task(self._dispatch())
        return future

    async def _dispatch(self) -> None:
        """Send what was gathered once nothing new came for a moment, or once there is enough."""
        settings = self._settings
        while self._gathered:
            quiet = time.monotonic() - self._last >= settings.batch_gather
            if not quiet and len(self._gathered) < settings.batch_size:
                await asyncio.sleep(settings.batch_gather / LOOKS_A_GATHERING)
                continue
            gathered, self._gathered = self._gathered, {}
            for file in files_of(gathered.values(), settings.batch_size):
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
            # The provider may have made the batch although its answer was lost.
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
        """Return the batch as it stands; outages are waited out, since the batch goes on without us."""
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
        """Settle the answers in a batch's files; return the fault of one that is too large."""
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
            future.exception()  # Marks it as seen, where nobody asked again yet.
        else:
            future.set_result(answer)

    # Earlier runs ----------------------------------------------------------------------------

    async def _recover(self) -> None:
        """Wait for what earlier runs sent, and delete the records of what is kept or never came to be."""
        loop = asyncio.get_running_loop()
        for written in await self._journal.unread():
            cached = {} if self._cache is None else await self._cache.get_many(written.keys)
            record = None if len(cached) == len(written.keys) else await self._find(written)
            if record is None:
                await self._journal.delete(written.name)
                continue
            for key in record.keys:
                self._waiting.setdefault(key, loop.create_future())
            self._handed_out.update(cached)
            self._start(self._await_again(record), record.keys)

    async def _await_again(self, record: BatchRecord) -> None:
        """Wait for an earlier run's batch; where it cannot be read any more, its requests are asked anew."""
        try:
            await self._await(record)
        except CallError as fault:
            if fault.kind is CallErrorKind.FATAL:
                await self._journal.delete(record.name)
            again = CallError(CallErrorKind.TRANSIENT, f"An earlier batch cannot be read: {fault.detail}")
            for key in record.keys:
                self._settle(key, again)

    async def _find(self, record: BatchRecord) -> BatchRecord | None:
        """Return the record with its batch's id; None where the provider does not know it."""
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
        """Run a batch in the background; what goes wrong goes to those who wait for it."""

        async def run() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait
                for key in keys:
                    self._settle(key, error)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Wait no longer: what was sent goes on at the provider, what was gathered is not sent."""
        self._gathered.clear()
        for key in list(self._waiting):
            self._settle(key, StoppedError("Judging was stopped.", advice="Resume to wait for the batch."))

    async def close(self) -> None:
        """Delete the records of what is kept, stop polling and close every client."""
        tasks = [*self._tasks, *(task for task in (self._gatherer, self._recovery) if task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for record in self._read:
            if self._handed_out.issuperset(record.keys):
                await self._journal.delete(record.name)
        await self._clients.close()


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
