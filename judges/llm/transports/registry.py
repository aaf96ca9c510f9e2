"""The registry of transports: the ways in which requests travel to LLMs.

One is described once, here or by a plugin; options, their help, settings and prices are made from that.
"""

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
    """Description of a transport, known without opening it.

    Attributes:
        name: As in `--transport`.
        title: What it is good for, in a few words.
        open: Makes it, of the settings, the place where batches are written down, and the cache.
        send: In place of that, a plain or async function of a request that returns a reply or its text. A
            plain one is called in a thread.
        batches: Whether requests wait for hours and cost the share of a batch.
        own_keys: Whether it takes keys of its own, beside that of the endpoint.
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
            raise SpecError(f"The transport {self.name} needs a function for send.")

    def opened(
        self, settings: AccessSettings, journal: BatchJournal | None, cache: ReplyCache | None
    ) -> Transport:
        """Make the transport; its library is loaded only now."""
        if self.batches and journal is None:
            message = "Batches were asked for without a place to write their ids down."
            raise SpecError(message, advice="Give open_client a journal.")
        if self.open is not None:
            return self.open(settings, journal, cache)
        if self.send is None:
            raise SpecError(f"The transport {self.name} has nothing that sends.", advice="Give it `send`.")
        return _FunctionTransport(self.name, self.send)


def _of_settings(module: str, name: str) -> Open:
    def opened(
        settings: AccessSettings, _journal: BatchJournal | None, _cache: ReplyCache | None
    ) -> Transport:
        transport: Transport = getattr(import_module(f".{module}", __package__), name)(settings)
        return transport

    return opened


def _batch(settings: AccessSettings, journal: BatchJournal | None, cache: ReplyCache | None) -> Transport:
    transport: Transport = import_module(".batch", __package__).BatchTransport(settings, journal, cache)
    return transport


OWN = (
    TransportInfo(
        name=OPENAI,
        title="OpenAI's client, for every endpoint that speaks its protocol",
        open=_of_settings("openai", "OpenAITransport"),
    ),
    TransportInfo(
        name=DIRECT,
        title="the same without that client, with the least overhead; the default",
        open=_of_settings("openai", "DirectTransport"),
    ),
    TransportInfo(
        name="litellm",
        title="litellm's adapters for other providers",
        open=_of_settings("litellm", "LitellmTransport"),
        own_keys=True,
    ),
    TransportInfo(
        name="batch", title="batch files, at half the price within a day", open=_batch, batches=True
    ),
)


def added_transports() -> PluginEntries[TransportInfo]:
    """Return the transports of plugins."""
    return plugin_entries(PluginKind.TRANSPORTS, TransportInfo, [one.name for one in OWN])


def transport_info(name: str) -> TransportInfo:
    """Return what is known of a transport."""
    known = {one.name: one for one in OWN}
    if name in known:
        return known[name]
    found = added_transports()
    known |= {one.name: one for one in found.entries}
    if name not in known:
        advice = " ".join((f"Use one of: {', '.join(known)}.", *found.problems))
        raise NotFoundError(f"There is no transport {name!r}.", advice=advice)
    return known[name]


def described_transports() -> str:
    """Return the transports with what each is good for, for the help of an option."""
    return ", ".join(f"`{one.name}` ({one.title})" for one in (*OWN, *added_transports().entries))


class _FunctionTransport:
    """Sends by others' code; what that raises is the failure of the request."""

    unlimited = False

    def __init__(self, name: str, send: Send) -> None:
        self._name = name
        self._send = send

    async def send(self, request: Request) -> Reply:
        """Call once and return the reply."""
        try:
            returned: object = await asyncio.to_thread(self._send, request)
            if inspect.isawaitable(returned):
                returned = await returned
            if isinstance(returned, Reply):
                return returned
            if isinstance(returned, str) and len(returned) > reply_limit(request.sampling):
                why = f"its reply is larger than {reply_limit(request.sampling):,} characters"
            elif isinstance(returned, str):
                key, endpoint, model = request.key, request.endpoint, request.model
                return Reply(key=key, endpoint=endpoint, model=model, text=returned, metered=False)
            else:
                why = f"it returned {returned!r:.80}, which is not a reply"
        except (CallError, StoppedError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            why = describe_error(error)
        raise CallError(CallErrorKind.REJECTED, f"The plugin transport {self._name} failed: {why}.")

    def stop(self) -> None:
        """Nothing takes hours."""

    async def close(self) -> None:
        """Nothing is open."""
