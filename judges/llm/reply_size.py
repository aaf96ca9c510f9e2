"""Bodies of replies: their largest size after decompression, and an end to them once judging stops.

Transports ask for gzip alone and decompress here, a piece at a time, so that no body grows in memory
beyond its limit. Large bodies take turns until their reply is stored.
"""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

from data.errors import StoppedError
from judges.llm.errors import REDIRECTS, CallError, CallErrorKind, quoted
from judges.llm.requests import Sampling

MIB = 2**20
MIN_LIMIT, MAX_LIMIT = MIB, 16 * MIB
MAX_TEXT = MIB
"""Characters of a text or of its thinking; models write at most half of that."""
BYTES_PER_TOKEN = 32
"""A token of text has about 4 characters, each at most 6 bytes of JSON."""
BYTES_PER_LOGPROB = 160
MAX_ERROR = 64 * 1024
"""Bytes that are read of an error."""
PIECE = 64 * 1024
LARGE, LARGE_AT_ONCE = MIB // 4, 2
GRACE = 2.0
"""Seconds that an incoming body gets to end after a stop."""
ASKED = {"Accept-Encoding": "gzip"}
GZIP = zlib.MAX_WBITS | 16


def reply_limit(sampling: Sampling) -> int:
    """Return the most bytes that the body of a reply may have."""
    each = BYTES_PER_TOKEN
    if sampling.logprobs:
        each += BYTES_PER_LOGPROB * (1 + (sampling.top_logprobs or 0))
    return min(MAX_LIMIT, max(MIN_LIMIT, (sampling.max_tokens or MAX_LIMIT) * each))


class Incoming:
    """The body of one reply while it comes in."""

    def __init__(self, limit: int, room: "ReplyRoom | None" = None) -> None:
        self.limit = limit
        self._room = room
        self.large = False
        self.begun = False
        self._timer = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        """Receive the body within the block: StoppedError where it takes too long after a stop."""
        await self._timer.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.begun = False
        try:
            await self._timer.__aexit__(kind, error, trace)
        except TimeoutError as late:
            if not self.cut_off:
                raise
            raise StoppedError("Judging was stopped.", advice="Resume to ask what is missing.") from late

    @property
    def cut_off(self) -> bool:
        """True if the body was cut off after a stop."""
        return self._timer.expired()

    def begin(self) -> None:
        """Note that a first byte is there."""
        self.begun = True
        if self._room is not None and self._room.stopped:
            self.hurry()

    def hurry(self) -> None:
        """Leave little time for the rest."""
        if self._timer.when() is None:
            self._timer.reschedule(asyncio.get_running_loop().time() + GRACE)

    async def take_turn(self) -> None:
        """Wait until few other bodies are large."""
        if self._room is not None and not self.large:
            await self._room.turns.acquire()
            self.large = True


class ReplyRoom:
    """Memory for the replies of one event loop."""

    def __init__(self) -> None:
        self.turns = asyncio.Semaphore(LARGE_AT_ONCE)
        self.stopped = False
        self._incoming: set[Incoming] = set()

    @contextmanager
    def reply(self, sampling: Sampling) -> Iterator[Incoming]:
        """Make room for a reply until it is stored."""
        incoming = Incoming(reply_limit(sampling), self)
        self._incoming.add(incoming)
        token = _incoming.set(incoming)
        try:
            yield incoming
        finally:
            _incoming.reset(token)
            self._incoming.discard(incoming)
            if incoming.large:
                self.turns.release()

    def stop(self) -> None:
        """Give bodies that come in, now or later, little time to end."""
        self.stopped = True
        for incoming in self._incoming:
            if incoming.begun:
                incoming.hurry()


_incoming: ContextVar[Incoming | None] = ContextVar("incoming", default=None)


@contextmanager
def receiving(incoming: Incoming | None) -> Iterator[None]:
    """Read bodies within the block as a reply; None: as no particular one."""
    token = _incoming.set(incoming)
    try:
        yield
    finally:
        _incoming.reset(token)


async def bounded(
    pieces: AsyncIterator[bytes], encoding: str, status: int, limit: int | None = None
) -> AsyncIterator[bytes]:
    """Decompress a body piece by piece, up to the limit of its reply.

    Of an error the beginning is enough.
    """
    incoming = _incoming.get() or Incoming(MAX_LIMIT)
    incoming.begin()
    limit, size, start = limit or incoming.limit, 0, b""
    # A generator in another one would cost each small reply more than reading it does.
    unpacked = _unpacking(encoding.strip().lower())
    async for packed in pieces:
        for piece in unpacked(packed):
            size += len(piece)
            start = start or piece
            if status >= REDIRECTS.start and size > MAX_ERROR:
                return
            if size > limit:
                raise too_large(limit, start)
            if size > LARGE:
                await incoming.take_turn()
            yield piece


def _unpacking(encoding: str) -> Callable[[bytes], Iterable[bytes]]:
    """Return what decompresses the pieces of a body, each into small ones."""
    if encoding in {"", "identity"}:
        return lambda piece: (piece,)
    if encoding not in {"gzip", "x-gzip"}:
        detail = f"The endpoint's reply is encoded as {encoding[:20]!r}, which was not asked for."
        raise CallError(CallErrorKind.TRANSIENT, detail, billable=True)
    unpack = zlib.decompressobj(GZIP)

    def parts(piece: bytes) -> Iterator[bytes]:
        try:
            while piece:
                yield unpack.decompress(piece, PIECE)
                piece = unpack.unconsumed_tail
        except zlib.error as error:
            detail = f"The endpoint's reply cannot be decompressed: {error}"
            raise CallError(CallErrorKind.TRANSIENT, detail, billable=True) from error

    return parts


async def lines_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return the lines of a file of replies; of one beyond the limit of a reply only its first bytes."""
    line = bytearray()
    async for piece in pieces:
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield bytes(line + end)
            line.clear()
        if len(line) <= MAX_LIMIT:
            line += rest
    yield bytes(line)


def too_large(limit: int, start: str | bytes) -> CallError:
    """Return the fault of a body beyond its limit."""
    detail = f"The endpoint's reply is larger than {limit / MIB:.3g} MiB: {quoted(start)}"
    return CallError(CallErrorKind.TRANSIENT, detail, billable=True)


def fault_within(error: BaseException) -> CallError | None:
    """Return the fault that a client's error covers: of a body, or of a certificate, which no retry cures."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, CallError):
        # aiohttp's own error of certificates has no words; the one that it covers does.
        if isinstance(seen, ssl.SSLCertVerificationError) and (cause := vars(seen).get("verify_message")):
            detail = f"its TLS certificate is not valid: {cause.rstrip('.')}; SSL_CERT_FILE names authorities"
            return CallError(CallErrorKind.FATAL, detail, unreachable=True)
        seen = seen.__cause__ or seen.__context__
    return seen
