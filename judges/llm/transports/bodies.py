"""Size limits for bodies of httpx responses."""

from collections.abc import AsyncIterator

import httpx

from judges.llm.reply_size import REQUEST_HEADERS, bounded


class BoundedStream(httpx.AsyncByteStream):
    """A body that is decompressed here, within its size limit."""

    def __init__(self, stream: httpx.AsyncByteStream, encoding: str, status: int) -> None:
        self._stream: httpx.AsyncByteStream | None = stream
        self._encoding, self._status = encoding, status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._stream is not None:
            async for piece in bounded(aiter(self._stream), self._encoding, self._status):
                yield piece

    async def aclose(self) -> None:
        """Close and drop the stream, whose reference cycle would keep the body in memory."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()


async def _bound(response: httpx.Response) -> None:
    if isinstance(response.stream, httpx.AsyncByteStream):
        encoding = response.headers.pop("Content-Encoding", "")
        response.stream = BoundedStream(response.stream, encoding, response.status_code)


def bound_client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """Add the size limit to a client."""
    client.headers.update(REQUEST_HEADERS)
    hooks = client.event_hooks
    hooks["response"] = [*hooks.get("response", ()), _bound]
    client.event_hooks = hooks
    return client
