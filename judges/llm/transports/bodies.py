"""Bodies of httpx' responses, read within the limit of their reply."""

from collections.abc import AsyncIterator

import httpx

from judges.llm.reply_size import ASKED, bounded


class BoundedStream(httpx.AsyncByteStream):
    """A body that is decompressed here, and ends beyond its limit."""

    def __init__(self, stream: httpx.AsyncByteStream, encoding: str, status: int) -> None:
        self._stream: httpx.AsyncByteStream | None = stream
        self._encoding, self._status = encoding, status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._stream is not None:
            async for piece in bounded(aiter(self._stream), self._encoding, self._status):
                yield piece

    async def aclose(self) -> None:
        """Close the connection's side, which refers to the response: the circle would keep the body."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()


async def _bound(response: httpx.Response) -> None:
    if isinstance(response.stream, httpx.AsyncByteStream):
        encoding = response.headers.pop("Content-Encoding", "")
        response.stream = BoundedStream(response.stream, encoding, response.status_code)


def bound_client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """Let a client read every body within its limit."""
    client.headers.update(ASKED)
    hooks = client.event_hooks
    hooks["response"] = [*hooks.get("response", ()), _bound]
    client.event_hooks = hooks
    return client
