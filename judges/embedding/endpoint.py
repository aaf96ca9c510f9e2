"""Embeddings from an OpenAI-compatible endpoint (OpenAI, vLLM, Ollama and others).

Each text is a request of its own to the scheduler, so that embeddings share its cache (the key is the sha256
of endpoint, model and text), budget, retries and counts with everything else that is asked; the transport
carries those that wait together in one call.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace

import numpy as np

from data.corpora.dense import Vectors, unit_rows
from data.records import Outcome, Reply
from judges.llm.errors import CallError, CallErrorKind, quoted
from judges.llm.replies import count_of, payload_of
from judges.llm.requests import CallFailure, LlmClient, Message, Request, ResponseFormat, Sampling
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import OpenAIClients, as_faults

AT_ONCE = 64
IN_FLIGHT = 256
GATHER_SECONDS = 0.005
VECTOR = ResponseFormat(name="embedding", schema={})
NO_SAMPLING = Sampling(temperature=None, top_p=None, max_tokens=1)


class EndpointEmbedder:
    """Embeds through a scheduler over an `EmbeddingTransport`.

    Args:
        client: Answers requests.
        endpoint: Base URL.
        model: The endpoint's name of the model.
    """

    fingerprint = ""

    def __init__(self, client: LlmClient, *, endpoint: str, model: str) -> None:
        self.endpoint = endpoint
        self.model = model
        self._asker = client

    async def embed(self, texts: Sequence[str]) -> Vectors | CallFailure:
        """Embed texts; those that were embedded before are not asked again.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        replies = await asyncio.gather(*(self._asker.ask(self._request(text)) for text in texts))
        rows: list[Vectors] = []
        for reply in replies:
            if isinstance(reply, CallFailure):
                return reply
            row = _unpacked(reply.text)
            if row is None or (rows and len(row) != len(rows[0])):
                return CallFailure(
                    outcome=Outcome.UNREADABLE, detail=f"{self.model} gave vectors of no one length."
                )
            rows.append(row)
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _request(self, text: str) -> Request:
        return Request(
            endpoint=self.endpoint,
            model=self.model,
            messages=(Message("user", text),),
            sampling=NO_SAMPLING,
            response_format=VECTOR,
        )


class EmbeddingTransport:
    """Carries the texts that wait together to `/embeddings`, `AT_ONCE` at most in a call.

    Args:
        settings: Keys and patience.
    """

    unlimited = False

    def __init__(self, settings: AccessSettings) -> None:
        self._timeout = settings.timeout
        self._clients = OpenAIClients(settings)
        self._waiting: dict[tuple[str, str], list[tuple[Request, asyncio.Future[Reply]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, request: Request) -> Reply:
        """Wait for the call that carries this text.

        Raises:
            CallError: It returned nothing.
        """
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        lane = (request.endpoint, request.model)
        waiting = self._waiting.setdefault(lane, [])
        waiting.append((request, future))
        if len(waiting) == 1:
            self._start(self._gather(lane))
        elif len(waiting) >= AT_ONCE:
            self._start(self._carry(self._waiting.pop(lane)))
        return await future

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _gather(self, lane: tuple[str, str]) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        gathered = self._waiting.pop(lane, [])
        if gathered:
            await self._carry(gathered)

    async def _carry(self, gathered: Sequence[tuple[Request, asyncio.Future[Reply]]]) -> None:
        started = time.perf_counter()
        first = gathered[0][0]
        texts = [request.messages[0].content for request, _ in gathered]
        try:
            vectors, tokens = await self._post(first.endpoint, first.model, texts)
        except CallError as fault:
            if fault.kind is CallErrorKind.REJECTED and len(gathered) > 1:
                # One text that the endpoint will not take must not cost the others theirs.
                middle = len(gathered) // 2
                await asyncio.gather(self._carry(gathered[:middle]), self._carry(gathered[middle:]))
                return
            _fail(gathered, fault)
            return
        except asyncio.CancelledError:
            for _, future in gathered:
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait
            _fail(gathered, error)
            return
        shares = _shares(tokens or 0, texts)
        latency = time.perf_counter() - started
        for (request, future), row, share in zip(gathered, unit_rows(vectors), shares, strict=True):
            reply = Reply(
                key=request.key,
                endpoint=request.endpoint,
                model=request.model,
                text=_packed(row),
                finish_reason="stop",
                input_tokens=share,
                metered=bool(tokens),
                latency=latency,
            )
            if not future.done():
                future.set_result(reply)

    async def _post(self, endpoint: str, model: str, texts: Sequence[str]) -> tuple[Vectors, int | None]:
        import httpx  # noqa: PLC0415 - loads only when an endpoint is asked

        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        client = self._clients.get(endpoint)
        with as_faults(self._timeout):
            async with asyncio.timeout(self._timeout):
                response = await client.post("/embeddings", cast_to=httpx.Response, body=body)
        return read_vectors(payload_of(response.content), len(texts))

    def stop(self) -> None:
        """Calls in flight finish; there is nothing to release."""

    async def close(self) -> None:
        """Close every client."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._clients.close()


def embedding_access(settings: AccessSettings) -> AccessSettings:
    """The same limits where a place in flight is a text, and a call carries `AT_ONCE` of them."""
    return replace(
        settings,
        concurrency=IN_FLIGHT,
        first_concurrency=IN_FLIGHT,
        rpm=None if settings.rpm is None else settings.rpm * AT_ONCE,
    )


def read_vectors(payload: object, count: int) -> tuple[Vectors, int | None]:
    """Read a reply of `/embeddings`.

    Returns:
        One row a text, and the tokens that the endpoint counted; None where it gives no believable number.

    Raises:
        CallError: It has another shape, or not one usable vector for each text.
    """
    try:
        if not isinstance(payload, Mapping):
            raise TypeError(f"it is no JSON object: {quoted(payload)}")
        rows = sorted(payload["data"], key=lambda row: int(row["index"]))
        numbers = [int(row["index"]) for row in rows]
        vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
        good = numbers == list(range(count)) and vectors.ndim == 2 and vectors.shape[1] > 0  # noqa: PLR2004 - rows, columns
        if not good or not np.isfinite(vectors).all():
            raise ValueError("there is not one finite vector for each text")
    except (TypeError, KeyError, ValueError) as error:
        detail = f"The endpoint's embeddings cannot be read: {error}"
        raise CallError(CallErrorKind.TRANSIENT, detail, billable=True) from error
    usage = payload.get("usage")
    return vectors, count_of(usage.get("prompt_tokens")) if isinstance(usage, Mapping) else None


def _fail(gathered: Sequence[tuple[Request, asyncio.Future[Reply]]], error: Exception) -> None:
    for _, future in gathered:
        if not future.done():
            future.set_exception(error)


def _shares(tokens: int, texts: Sequence[str]) -> list[int]:
    """A call's tokens by text, in proportion to their lengths; the sum is exact."""
    sizes = np.cumsum([len(text) + 1 for text in texts])
    ends = (tokens * sizes // sizes[-1]).tolist()
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _packed(row: Vectors) -> str:
    return base64.b64encode(row.astype("<f2").tobytes()).decode("ascii")


def _unpacked(text: str) -> Vectors | None:
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f2").astype(np.float32)
    except (binascii.Error, ValueError):
        return None
