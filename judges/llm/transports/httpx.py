"""The default transport and the leanest: the same calls as OpenAI's client makes, straight on aiohttp.

OpenAI's client takes about a millisecond of processor time for a call, which bounds one process to some
hundreds of calls a second; this takes a small part of that. Bodies, replies, faults and what is learnt
about endpoints are those of `judges.llm.transports.openai`. It sends the key and nothing else that
OpenAI's client reads from the environment (organisation, project).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from judges.llm.errors import fault_of_status
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import (
    IDLE_CONNECTION_SECONDS,
    OpenAITransport,
    unconnected,
)

if TYPE_CHECKING:
    from aiohttp import ClientSession

REDIRECT_STATUS = 300


class DirectTransport(OpenAITransport):
    """Sends requests over one aiohttp session, made in the event loop that uses it."""

    def __init__(self, settings: AccessSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._session: ClientSession | None = None
        self._proxies: dict[str, str | None] = {}

    async def _post(self, endpoint: str, body: dict[str, Any]) -> bytes:
        import aiohttp  # noqa: PLC0415 - loads only when an endpoint is asked

        headers = {
            "Authorization": f"Bearer {self._settings.key_for(endpoint)}",
            "Content-Type": "application/json",
        }
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        url = f"{endpoint.rstrip('/')}/chat/completions"
        try:
            posted = self._opened().post(
                url, data=data, headers=headers, proxy=self._proxy(endpoint), allow_redirects=False
            )
            async with posted as response:
                status, raw = response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unconnected(error, self._timeout) from error
        if status >= REDIRECT_STATUS:
            raise fault_of_status(status, raw.decode("utf-8", "replace"), response.headers)
        return raw

    def _opened(self) -> ClientSession:
        import aiohttp  # noqa: PLC0415 - as above
        import httpx  # noqa: PLC0415 - as above

        if self._session is None:
            settings = self._settings
            # Bare systems have no authorities of their own; OpenAI's client brings these.
            trusted = httpx.create_ssl_context()
            trusted.load_default_certs()
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=settings.concurrency, keepalive_timeout=IDLE_CONNECTION_SECONDS, ssl=trusted
                ),
                timeout=aiohttp.ClientTimeout(total=settings.timeout, sock_connect=settings.connect_timeout),
            )
        return self._session

    def _proxy(self, endpoint: str) -> str | None:
        """The proxy that the environment names for an endpoint, as OpenAI's client takes it.

        The session's own look-up goes to another thread at every call, and a .netrc with a word on the
        endpoint makes it refuse our key.
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
