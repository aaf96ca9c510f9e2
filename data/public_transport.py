"""HTTP to public hosts alone; apart from what tells them, since it loads a client."""

from __future__ import annotations

import httpx

from data.public_hosts import address_of


class PublicTransport(httpx.AsyncBaseTransport):
    """Carries requests to public addresses alone: a host's addresses are looked up once, checked and used.

    Args:
        private: Whether other addresses are asked too.
    """

    def __init__(self, *, private: bool = False) -> None:
        self._private = private
        # A connection is one host's: several may be at one address, each with its own certificate.
        self._inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a request.

        Raises:
            HostError: The host is unknown, or an address of it is not public.
        """
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        address = await address_of(host, port, private=self._private)
        checked = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._inner.handle_async_request(checked)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
