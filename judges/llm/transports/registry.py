"""Registry of transports, from which options, help, settings and prices are derived; plugins can add more."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from data.errors import NotFoundError, SpecError, StoppedError
from data.models import Reply
from data.plugins import PluginEntries, PluginKind, describe_error, plugin_entries
from judges.llm.errors import CallError, CallErrorKind
from judges.llm.reply_size import reply_limit
from judges.llm.settings import DIRECT, OPENAI

if TYPE_CHECKING:
    from judges.llm.chat_format import Transport
    from judges.llm.requests import ReplyCache, Request
    from judges.llm.settings import AccessSettings
    from judges.llm.transports.batch import BatchJournal

Open = Callable[["AccessSettings", "BatchJournal | None", "ReplyCache | None"], "Transport"]
Send = Callable[["Request"], "Awaitable[Reply | str] | Reply | str"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportInfo:
    """Description of a transport.

    Attributes:
        name: Value of `--transport`.
        title: Short description.
        open: Creates it from the settings, the batch journal and the reply cache.
        send: Alternative to `open`: a plain or async function of a request that returns a reply or its text.
            A plain one is called in a thread.
        batches: Whether requests wait for hours and have batch prices.
        own_keys: Whether it reads keys of its own in addition to the endpoint's.
    """

    name: str
    title: str
    open: Open | None = None
    send: Send | None = None
    batches: bool = False
    own_keys: bool = False

    def __post_init__(self) -> None:
        function: object = self.open or self.send
        if not callable(function):
            raise SpecError(f"The `send` of the transport {self.name} is not a function.")

    def opened(
        self, settings: AccessSettings, journal: BatchJournal | None, cache: ReplyCache | None
    ) -> Transport:
        """Create the transport and import its library."""
        if self.batches and journal is None:
            raise SpecError("The batch transport needs a journal.", advice="Pass one to `open_client`.")
        if self.open is not None:
            return self.open(settings, journal, cache)
        if self.send is None:
            raise SpecError(f"The transport {self.name} has neither `open` nor `send`.", advice="Add `send`.")
        return _FunctionTransport(self.name, self.send)


def _opener(module: str, name: str) -> Open:
    def open_transport(
        settings: AccessSettings, _journal: BatchJournal | None, _cache: ReplyCache | None
    ) -> Transport:
        transport: Transport = getattr(import_module(f".{module}", __package__), name)(settings)
        return transport

    return open_transport


def _batch(settings: AccessSettings, journal: BatchJournal | None, cache: ReplyCache | None) -> Transport:
    transport: Transport = import_module(".batch", __package__).BatchTransport(settings, journal, cache)
    return transport


OWN = (
    TransportInfo(
        name=OPENAI,
        title="OpenAI's client, for every endpoint that speaks its protocol",
        open=_opener("openai", "OpenAITransport"),
    ),
    TransportInfo(
        name=DIRECT,
        title="the same without that client, with the least overhead; the default",
        open=_opener("openai", "DirectTransport"),
    ),
    TransportInfo(
        name="litellm",
        title="litellm's adapters for other providers",
        open=_opener("litellm", "LitellmTransport"),
        own_keys=True,
    ),
    TransportInfo(
        name="batch", title="batch files, at half the price within a day", open=_batch, batches=True
    ),
)


def added_transports() -> PluginEntries[TransportInfo]:
    """Return the transports of plugins."""
    return plugin_entries(PluginKind.TRANSPORTS, TransportInfo, [info.name for info in OWN])


def transport_info(name: str) -> TransportInfo:
    """Return a transport by name."""
    infos = {info.name: info for info in OWN}
    if name in infos:
        return infos[name]
    added_infos = added_transports()
    infos |= {info.name: info for info in added_infos.entries}
    if name not in infos:
        advice = " ".join((f"Use one of: {', '.join(infos)}.", *added_infos.problems))
        raise NotFoundError(f"Unknown transport {name!r}.", advice=advice)
    return infos[name]


def described_transports() -> str:
    """Return the transports with their titles, for the help of an option."""
    return ", ".join(f"`{info.name}` ({info.title})" for info in (*OWN, *added_transports().entries))


class _FunctionTransport:
    """Sends requests by a plugin's function; an exception fails only its request."""

    unlimited = False

    def __init__(self, name: str, send: Send) -> None:
        self._name = name
        self._send = send

    async def send(self, request: Request) -> Reply:
        """Call once and return the reply."""
        try:
            result: object = await asyncio.to_thread(self._send, request)
            if inspect.isawaitable(result):
                result = await result
            if isinstance(result, Reply):
                return result
            if isinstance(result, str) and len(result) > reply_limit(request.sampling):
                reason = f"its reply is larger than {reply_limit(request.sampling):,} characters"
            elif isinstance(result, str):
                key, endpoint, model = request.key, request.endpoint, request.model
                return Reply(key=key, endpoint=endpoint, model=model, text=result, metered=False)
            else:
                reason = f"it returned {result!r:.80}, which is not a reply"
        except (CallError, StoppedError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - plugins may raise anything
            reason = describe_error(error)
        raise CallError(CallErrorKind.REJECTED, f"The plugin transport {self._name} failed: {reason}.")

    def stop(self) -> None:
        """Let calls in flight finish."""

    async def close(self) -> None:
        """Do nothing: the function has no connections."""
