"""Transports for OpenAI-compatible endpoints: aiohttp (the default) or OpenAI's client.

OpenAI's client needs about a millisecond of processor time per call, which limits a process to hundreds of
calls per second; aiohttp needs a small part of that, and sends only the key, not the organisation or project
from the environment. The client's retries are off, because two layers of retries multiply. Replies are parsed
from plain JSON (`judges.llm.replies`), which tolerates extra and missing fields of compatible servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from data.models import Reply
from judges.llm.chat_format import QuirkMemory
from judges.llm.errors import CallError, CallErrorKind, fault_of_status
from judges.llm.replies import payload_of
from judges.llm.reply_size import REQUEST_HEADERS, bounded, fault_within
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings
from judges.llm.usage import with_header_cost

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from openai import AsyncOpenAI

IDLE_CONNECTION_SECONDS = 30.0


class OpenAIClients:
    """Clients by endpoint, created in the event loop that uses them."""

    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        self._clients: dict[str, AsyncOpenAI] = {}

    def get(self, endpoint: str) -> AsyncOpenAI:
        """Return the client for an endpoint, created on first use."""
        client = self._clients.get(endpoint)
        if client is None:
            client = self._clients[endpoint] = self._make(endpoint)
        return client

    def _make(self, endpoint: str) -> AsyncOpenAI:
        import httpx  # noqa: PLC0415 - loaded on the first call
        from openai import AsyncOpenAI, DefaultAioHttpClient  # noqa: PLC0415 - as above

        from judges.llm.transports.bodies import bound_client  # noqa: PLC0415 - as above

        settings = self._settings
        limits = httpx.Limits(
            max_connections=settings.concurrency,
            max_keepalive_connections=settings.concurrency,
            keepalive_expiry=IDLE_CONNECTION_SECONDS,
        )
        timeout = httpx.Timeout(settings.timeout, connect=settings.connect_timeout)
        return AsyncOpenAI(
            base_url=endpoint,
            api_key=settings.key_for(endpoint),
            max_retries=0,
            timeout=timeout,
            # No redirects, because prompts may contain private answers and references.
            http_client=bound_client(
                DefaultAioHttpClient(limits=limits, timeout=timeout, follow_redirects=False)
            ),
        )

    async def close(self) -> None:
        """Close every client."""
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.close()


class OpenAITransport:
    """Sends requests through OpenAI's client."""

    unlimited = False

    def __init__(self, settings: AccessSettings, clients: OpenAIClients | None = None) -> None:
        self._timeout = settings.timeout
        self._clients = clients or OpenAIClients(settings)
        self._quirks = QuirkMemory()

    async def send(self, request: Request) -> Reply:
        """Send a request, retrying without features that the endpoint rejects."""

        async def post(body: dict[str, Any]) -> object:
            raw, headers = await self._post(request.endpoint, body)
            return with_header_cost(payload_of(raw), headers)

        return await self._quirks.send(request, post)

    async def _post(self, endpoint: str, body: dict[str, Any]) -> tuple[bytes, Mapping[str, str]]:
        import httpx  # noqa: PLC0415 - loaded on the first call

        client = self._clients.get(endpoint)
        with as_faults(self._timeout):
            async with asyncio.timeout(self._timeout):
                response = await client.post("/chat/completions", cast_to=httpx.Response, body=body)
                return response.content, response.headers

    def stop(self) -> None:
        """Let calls in flight finish."""

    async def close(self) -> None:
        """Close every client."""
        await self._clients.close()


@contextlib.contextmanager
def as_faults(timeout: float) -> Iterator[None]:
    """Convert exceptions of OpenAI's client to `CallError`."""
    import openai  # noqa: PLC0415 - loaded on the first call

    try:
        yield
    except (TimeoutError, openai.APIConnectionError) as error:
        raise connection_error(error, timeout) from error
    except openai.APIStatusError as error:
        body = error.response.text if error.body is None else error.body
        raise fault_of_status(error.status_code, body, error.response.headers) from error
    except (openai.OpenAIError, ValueError) as error:
        detail = f"The endpoint's reply is not JSON: {error}"
        raise CallError(CallErrorKind.TRANSIENT, detail, billable=True) from error


def connection_error(error: Exception, timeout: float) -> CallError:
    """Convert a timeout or a lost connection, which only the root cause distinguishes."""
    if (fault := fault_within(error)) is not None:
        return fault
    root: BaseException = error
    while root.__cause__ is not None:
        root = root.__cause__
    if isinstance(root, TimeoutError | asyncio.CancelledError):
        return CallError(CallErrorKind.TRANSIENT, f"No reply within {timeout:g} s.", billable=True)
    cause_text = f"{type(root).__name__}: {root}" if str(root) else type(root).__name__
    # A refused connection costs nothing; a reset may come after the work is done.
    unreachable = isinstance(root, OSError) and not isinstance(root, ConnectionResetError | BrokenPipeError)
    return CallError(
        CallErrorKind.TRANSIENT,
        f"The connection failed ({cause_text})",
        billable=not unreachable,
        unreachable=unreachable,
    )


REDIRECT_STATUS = 300


class DirectTransport(OpenAITransport):
    """Sends requests over an aiohttp session."""

    def __init__(self, settings: AccessSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._session: ClientSession | None = None
        self._proxies: dict[str, str | None] = {}

    async def _post(self, endpoint: str, body: dict[str, Any]) -> tuple[bytes, Mapping[str, str]]:
        import aiohttp  # noqa: PLC0415 - loaded on the first call

        headers = {
            "Authorization": f"Bearer {self._settings.key_for(endpoint)}",
            "Content-Type": "application/json",
            **REQUEST_HEADERS,
        }
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        url = f"{endpoint.rstrip('/')}/chat/completions"
        try:
            pending = self._open_session().post(
                url, data=data, headers=headers, proxy=self._proxy(endpoint), allow_redirects=False
            )
            async with pending as response:
                status = response.status
                encoding = response.headers.get("Content-Encoding", "")
                pieces = bounded(response.content.iter_any(), encoding, status)
                raw = b"".join([piece async for piece in pieces])
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise connection_error(error, self._timeout) from error
        if status >= REDIRECT_STATUS:
            raise fault_of_status(status, raw.decode("utf-8", "replace"), response.headers)
        return raw, response.headers

    def _open_session(self) -> ClientSession:
        import aiohttp  # noqa: PLC0415 - as above
        import httpx  # noqa: PLC0415 - as above

        if self._session is None:
            settings = self._settings
            # Minimal systems lack certificate authorities; httpx brings its own.
            trusted = httpx.create_ssl_context()
            trusted.load_default_certs()
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=settings.concurrency, keepalive_timeout=IDLE_CONNECTION_SECONDS, ssl=trusted
                ),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=settings.timeout, sock_connect=settings.connect_timeout),
            )
        return self._session

    def _proxy(self, endpoint: str) -> str | None:
        """Return the proxy of the environment for an endpoint, as OpenAI's client chooses it.

        aiohttp's look-up uses a thread per call, and rejects our key if .netrc has an entry for the endpoint.
        """
        if endpoint not in self._proxies:
            parts = urlsplit(endpoint)
            bypassed = proxy_bypass(parts.hostname or "")
            self._proxies[endpoint] = None if bypassed else getproxies().get(parts.scheme)
        return self._proxies[endpoint]

    async def close(self) -> None:
        """Close every connection."""
        await super().close()
        if self._session is not None:
            await self._session.close()
