"""Size limits of reply bodies, and their cut-off after a stop.

Transports accept only gzip and decompress it here piece by piece, so that no body exceeds its limit in
memory. Only a few large bodies are received at the same time.
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
"""Maximum length of a text or of its thinking; models write at most half of that."""
BYTES_PER_TOKEN = 32
"""A token has about 4 characters of text, each at most 6 bytes of JSON."""
BYTES_PER_LOGPROB = 160
MAX_ERROR = 64 * 1024
"""Maximum number of bytes read from an error."""
PIECE = 64 * 1024
LARGE, LARGE_AT_ONCE = MIB // 4, 2
GRACE = 2.0
"""Seconds for an incoming body to end after a stop."""
REQUEST_HEADERS = {"Accept-Encoding": "gzip"}
GZIP = zlib.MAX_WBITS | 16


def reply_limit(sampling: Sampling) -> int:
    """Return the maximum size of a reply's body in bytes."""
    bytes_per_token = BYTES_PER_TOKEN
    if sampling.logprobs:
        bytes_per_token += BYTES_PER_LOGPROB * (1 + (sampling.top_logprobs or 0))
    return min(MAX_LIMIT, max(MIN_LIMIT, (sampling.max_tokens or MAX_LIMIT) * bytes_per_token))


class Incoming:
    """The body of a reply while it is received."""

    def __init__(self, limit: int, room: "ReplyRoom | None" = None) -> None:
        self.limit = limit
        self._room = room
        self.large = False
        self.started = False
        self._timer = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        """Receive the body in the block; raise StoppedError if it takes too long after a stop."""
        await self._timer.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.started = False
        try:
            await self._timer.__aexit__(kind, error, trace)
        except TimeoutError as late:
            if not self.cut_off:
                raise
            raise StoppedError("Judging was stopped.", advice="Resume to request what is missing.") from late

    @property
    def cut_off(self) -> bool:
        """True if the body was cut off after a stop."""
        return self._timer.expired()

    def begin(self) -> None:
        """Record the first byte."""
        self.started = True
        if self._room is not None and self._room.stopped:
            self.hurry()

    def hurry(self) -> None:
        """Start the grace period for the rest."""
        if self._timer.when() is None:
            self._timer.reschedule(asyncio.get_running_loop().time() + GRACE)

    async def take_turn(self) -> None:
        """Wait for a slot for large bodies."""
        if self._room is not None and not self.large:
            await self._room.turns.acquire()
            self.large = True


class ReplyRoom:
    """Limits the memory for replies of an event loop."""

    def __init__(self) -> None:
        self.turns = asyncio.Semaphore(LARGE_AT_ONCE)
        self.stopped = False
        self._incoming: set[Incoming] = set()

    @contextmanager
    def reply(self, sampling: Sampling) -> Iterator[Incoming]:
        """Register a reply until it is stored."""
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
        """Start the grace period for current and later bodies."""
        self.stopped = True
        for incoming in self._incoming:
            if incoming.started:
                incoming.hurry()


_incoming: ContextVar[Incoming | None] = ContextVar("incoming", default=None)


@contextmanager
def receiving(incoming: Incoming | None) -> Iterator[None]:
    """Assign bodies that are read in the block to a reply, or to none."""
    token = _incoming.set(incoming)
    try:
        yield
    finally:
        _incoming.reset(token)


async def bounded(
    pieces: AsyncIterator[bytes], encoding: str, status: int, limit: int | None = None
) -> AsyncIterator[bytes]:
    """Decompress a body piece by piece, up to the limit of its reply; errors are truncated."""
    incoming = _incoming.get() or Incoming(MAX_LIMIT)
    incoming.begin()
    limit, size, start = limit or incoming.limit, 0, b""
    # A nested generator would cost small replies more time than reading them.
    unpack = _unpacker(encoding.strip().lower())
    async for chunk in pieces:
        for piece in unpack(chunk):
            size += len(piece)
            start = start or piece
            if status >= REDIRECTS.start and size > MAX_ERROR:
                return
            if size > limit:
                raise too_large(limit, start)
            if size > LARGE:
                await incoming.take_turn()
            yield piece


def _unpacker(encoding: str) -> Callable[[bytes], Iterable[bytes]]:
    """Return a function that decompresses a piece of a body into small pieces."""
    if encoding in {"", "identity"}:
        return lambda piece: (piece,)
    if encoding not in {"gzip", "x-gzip"}:
        detail = f"The endpoint's reply has the encoding {encoding[:20]!r}, which was not requested."
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
    """Yield the lines of a file of replies, truncating lines beyond the limit."""
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
    """Return the error for a body beyond its limit."""
    detail = f"The endpoint's reply is larger than {limit / MIB:.3g} MiB: {quoted(start)}"
    return CallError(CallErrorKind.TRANSIENT, detail, billable=True)


def fault_within(error: BaseException) -> CallError | None:
    """Return the error nested in an exception, such as an invalid certificate, which no retry cures."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, CallError):
        # aiohttp's certificate error has no message, but its cause does.
        if isinstance(cause, ssl.SSLCertVerificationError) and (reason := vars(cause).get("verify_message")):
            detail = (
                f"its TLS certificate is not valid: {reason.rstrip('.')}; SSL_CERT_FILE names authorities"
            )
            return CallError(CallErrorKind.FATAL, detail, unreachable=True)
        cause = cause.__cause__ or cause.__context__
    return cause
