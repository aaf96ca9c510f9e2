"""litellm as a lazy adapter, for providers that are not OpenAI-compatible.

Only the calling is litellm's: its retries and cache stay off (this project has its own), and it is
set to read its price map from disk instead of fetching it. A model is named as litellm names it
(`anthropic/claude-sonnet-4-5`); an endpoint that is an address is passed on, any other is a mere name.
Without a key for the endpoint litellm looks for the provider's usual variable.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from data.models import Reply
from judges.llm.chat_format import Learnt
from judges.llm.errors import SERVER_STATUS, CallError, CallErrorKind, fault_of_status
from judges.llm.reply_size import fault_within
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.openai import as_faults
from judges.llm.usage import with_stated_cost

HANDLED, MADE = "create_client", "_get_async_http_client"
"""Factories of litellm's clients: for most providers, and for OpenAI-compatible ones."""


class LitellmTransport:
    """Sends requests through `litellm.acompletion`."""

    unlimited = False

    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        self._litellm: Any = None
        self._learnt = Learnt()

    async def send(self, request: Request) -> Reply:
        """Call once and return the reply."""

        async def post(body: dict[str, Any]) -> object:
            return await self._complete(request, body)

        return await self._learnt.send(request, post)

    async def _complete(self, request: Request, body: dict[str, Any]) -> object:
        litellm = self._loaded()
        options = body | self._address(request.endpoint)
        if request.tools:
            # With tools litellm looks for an MCP gateway first, which needs a package of its own.
            options["_skip_mcp_handler"] = True
        with as_faults(self._settings.timeout):
            async with asyncio.timeout(self._settings.timeout):
                try:
                    response = await litellm.acompletion(
                        **options,
                        timeout=self._settings.timeout,
                        num_retries=0,
                        max_retries=0,
                        # What is not sent must stand in the record, so that nothing is dropped unseen.
                        drop_params=False,
                        caching=False,
                    )
                except litellm.Timeout:
                    raise
                except litellm.ContentPolicyViolationError as error:
                    raise CallError(CallErrorKind.REFUSED, str(error), moderation=True) from error
                except Exception as error:
                    # Its errors have statuses without a common class.
                    raise fault_within(error) or _fault_of(error) from error
        headers = response._hidden_params.get("additional_headers") or {}  # noqa: SLF001 - litellm's only place
        plain = {name.removeprefix("llm_provider-"): value for name, value in headers.items()}
        return with_stated_cost(_completion_of(response.model_dump(warnings=False)), plain)

    def _address(self, endpoint: str) -> dict[str, str]:
        if not endpoint.startswith(("http://", "https://")):
            key = self._settings.api_keys.get(endpoint)
            return {"api_key": key} if key else {}
        return {"api_base": endpoint, "api_key": self._settings.key_for(endpoint)}

    def _loaded(self) -> Any:  # noqa: ANN401 - litellm has no types
        if self._litellm is None:
            # litellm reads this while it is imported and has no other switch for it.
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # noqa: TID251 - written, not read
            import litellm  # noqa: PLC0415 - slow to load, and used by few

            litellm.suppress_debug_info = True
            litellm.telemetry = False
            litellm.cache = None
            _limit_clients()
            self._litellm = litellm
        return self._litellm

    def stop(self) -> None:
        """Let calls in flight finish; there is nothing to release."""

    async def close(self) -> None:
        """Close litellm's clients of this loop."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()


def _limit_clients() -> None:
    """Let clients follow no redirect and read no body beyond its limit."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler  # noqa: PLC0415 - as above
    from litellm.llms.openai.common_utils import BaseOpenAILLM  # noqa: PLC0415 - as above

    from judges.llm.transports.bodies import bound_client  # noqa: PLC0415 - as above

    def without(make: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(make)
        def made(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - litellm's own
            client = make(*args, **options)
            client.follow_redirects = False
            return bound_client(client)

        return made

    if not hasattr(AsyncHTTPHandler.create_client, "__wrapped__"):
        setattr(AsyncHTTPHandler, HANDLED, without(AsyncHTTPHandler.create_client))
        made_before = BaseOpenAILLM._get_async_http_client  # noqa: SLF001 - there is no other place
        setattr(BaseOpenAILLM, MADE, staticmethod(without(made_before)))


def _fault_of(error: Exception) -> Exception:
    """Convert litellm's exception to a fault: its status, its words, and the waiting time in the headers."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return error
    body = getattr(error, "body", None)
    said = body if isinstance(body, Mapping) else {"message": str(error)}
    headers = getattr(error, "litellm_response_headers", None)
    fault = fault_of_status(status, {"error": said}, headers or {})
    # It calls a connection that was lost, and a reply that it cannot read, a 500 without headers.
    fault.billable = status >= SERVER_STATUS and headers is None
    return fault


def _completion_of(payload: dict[str, Any]) -> dict[str, Any]:
    choices = payload.get("choices") or []
    moved = [{**(choice.get("provider_specific_fields") or {}), **choice} for choice in choices]
    return {**payload, "choices": moved}
