"""Transport over litellm, for providers that are not OpenAI-compatible.

litellm's retries and cache are off, and it reads its price map from disk instead of fetching it. Models have
litellm's names (`anthropic/claude-sonnet-4-5`); only endpoints that are addresses are passed on. Without a
key for the endpoint litellm reads the provider's usual variable.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from data.models import Reply
from judges.llm.chat_format import QuirkMemory
from judges.llm.errors import SERVER_STATUS, CallError, CallErrorKind, fault_of_status
from judges.llm.reply_size import fault_within
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import as_faults
from judges.llm.usage import with_header_cost

HANDLER_FACTORY, OPENAI_FACTORY = "create_client", "_get_async_http_client"
"""litellm's factories of clients for most providers, and for OpenAI-compatible ones."""


class LitellmTransport:
    """Sends requests through `litellm.acompletion`."""

    unlimited = False

    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        self._litellm: Any = None
        self._quirks = QuirkMemory()

    async def send(self, request: Request) -> Reply:
        """Call once and return the reply."""

        async def post(body: dict[str, Any]) -> object:
            return await self._complete(request, body)

        return await self._quirks.send(request, post)

    async def _complete(self, request: Request, body: dict[str, Any]) -> object:
        litellm = self._loaded()
        options = body | self._address(request.endpoint)
        if request.tools:
            # With tools litellm first tries an MCP gateway, which needs another package.
            options["_skip_mcp_handler"] = True
        with as_faults(self._settings.timeout):
            async with asyncio.timeout(self._settings.timeout):
                try:
                    response = await litellm.acompletion(
                        **options,
                        timeout=self._settings.timeout,
                        num_retries=0,
                        max_retries=0,
                        # Dropped parameters would be missing from the record.
                        drop_params=False,
                        caching=False,
                    )
                except litellm.Timeout:
                    raise
                except litellm.ContentPolicyViolationError as error:
                    raise CallError(CallErrorKind.REFUSED, str(error), moderation=True) from error
                except Exception as error:
                    # litellm's errors have statuses but no common class.
                    raise fault_within(error) or _fault_of(error) from error
        headers = response._hidden_params.get("additional_headers") or {}  # noqa: SLF001 - litellm offers no other access
        plain = {name.removeprefix("llm_provider-"): value for name, value in headers.items()}
        return with_header_cost(_completion_of(response.model_dump(warnings=False)), plain)

    def _address(self, endpoint: str) -> dict[str, str]:
        if not endpoint.startswith(("http://", "https://")):
            key = self._settings.api_keys.get(endpoint)
            return {"api_key": key} if key else {}
        return {"api_base": endpoint, "api_key": self._settings.key_for(endpoint)}

    def _loaded(self) -> Any:  # noqa: ANN401 - litellm has no types
        if self._litellm is None:
            # litellm reads this variable on import and has no other switch.
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # noqa: TID251 - written, not read
            import litellm  # noqa: PLC0415 - slow to load, and used by few

            litellm.suppress_debug_info = True
            litellm.telemetry = False
            litellm.cache = None
            _limit_clients()
            self._litellm = litellm
        return self._litellm

    def stop(self) -> None:
        """Let calls in flight finish."""

    async def close(self) -> None:
        """Close litellm's clients."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()


def _limit_clients() -> None:
    """Disable redirects and limit bodies in litellm's clients."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler  # noqa: PLC0415 - as above
    from litellm.llms.openai.common_utils import BaseOpenAILLM  # noqa: PLC0415 - as above

    from judges.llm.transports.bodies import bound_client  # noqa: PLC0415 - as above

    def limit(factory: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(factory)
        def wrapper(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - litellm's own
            client = factory(*args, **options)
            client.follow_redirects = False
            return bound_client(client)

        return wrapper

    if not hasattr(AsyncHTTPHandler.create_client, "__wrapped__"):
        setattr(AsyncHTTPHandler, HANDLER_FACTORY, limit(AsyncHTTPHandler.create_client))
        factory = BaseOpenAILLM._get_async_http_client  # noqa: SLF001 - litellm has no public one
        setattr(BaseOpenAILLM, OPENAI_FACTORY, staticmethod(limit(factory)))


def _fault_of(error: Exception) -> Exception:
    """Convert litellm's exception to an error with its status, message and requested wait."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return error
    body = getattr(error, "body", None)
    details = body if isinstance(body, Mapping) else {"message": str(error)}
    headers = getattr(error, "litellm_response_headers", None)
    fault = fault_of_status(status, {"error": details}, headers or {})
    # litellm reports lost connections and unreadable replies as 500 without headers.
    fault.billable = status >= SERVER_STATUS and headers is None
    return fault


def _completion_of(payload: dict[str, Any]) -> dict[str, Any]:
    choices = payload.get("choices") or []
    moved = [{**(choice.get("provider_specific_fields") or {}), **choice} for choice in choices]
    return {**payload, "choices": moved}
