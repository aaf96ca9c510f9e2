"""litellm as a lazy adapter, for providers that are not OpenAI-compatible.

Only the calling is litellm's: its retries and cache stay off (this project has its own), and it is
set to read its price map from disk instead of fetching it. A model is named as litellm names it
(`anthropic/claude-sonnet-4-5`); an endpoint that is an address is passed on, any other is a mere name.
Without a key for the endpoint litellm looks for the provider's usual variable.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from data.records import Reply
from judges.llm.chat_format import body_of, reply_of
from judges.llm.errors import CallError, CallErrorKind, fault_of_status
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import as_faults


class LitellmTransport:
    """Sends requests through `litellm.acompletion`."""

    unlimited = False

    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        self._litellm: Any = None

    async def send(self, request: Request) -> Reply:
        """Call once and return the reply."""
        litellm = self._loaded()
        started = time.perf_counter()
        options = body_of(request) | self._address(request.endpoint)
        if request.tools:
            # With tools litellm looks for an MCP gateway first, which needs a package of its own.
            options["_skip_mcp_handler"] = True
        try:
            with as_faults(self._settings.timeout):
                async with asyncio.timeout(self._settings.timeout):
                    response = await litellm.acompletion(
                        **options,
                        timeout=self._settings.timeout,
                        num_retries=0,
                        max_retries=0,
                        drop_params=True,
                        caching=False,
                    )
        except litellm.ContentPolicyViolationError as error:
            raise CallError(CallErrorKind.REFUSED, str(error)) from error
        except (litellm.APIError, litellm.APIConnectionError) as error:
            status = int(getattr(error, "status_code", 500) or 500)
            raise fault_of_status(status, str(error), {}) from error
        return reply_of(request, response.model_dump(), time.perf_counter() - started)

    def _address(self, endpoint: str) -> dict[str, str]:
        """The endpoint and its key, where there are such."""
        if not endpoint.startswith(("http://", "https://")):
            key = self._settings.api_keys.get(endpoint)
            return {"api_key": key} if key else {}
        return {"api_base": endpoint, "api_key": self._settings.key_for(endpoint)}

    def _loaded(self) -> Any:  # noqa: ANN401 - litellm has no types
        """The library, imported at first use."""
        if self._litellm is None:
            # litellm reads this while it is imported and has no other switch for it.
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # noqa: TID251 - written, not read
            import litellm  # noqa: PLC0415 - slow to load, and used by few

            litellm.suppress_debug_info = True
            litellm.telemetry = False
            litellm.cache = None
            self._litellm = litellm
        return self._litellm

    def stop(self) -> None:
        """Calls in flight finish; there is nothing to let go of."""

    async def close(self) -> None:
        """Close litellm's clients of this loop."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()
