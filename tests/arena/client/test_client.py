"""Handing in files to another machine's arena: lines that break, refusals, addresses that are none."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from arena.client.answer_arena_client import (
    AnswerError,
    Client,
    ClosedError,
    ConnectionFailedError,
    QuotaError,
    RateLimitError,
    RetractedError,
    Retries,
    ServerError,
    StatusError,
    TimedOutError,
    UsageError,
)
from arena.client.answer_arena_client.errors import seconds_of
from arena.client.backends import RemoteBackend, SubmissionRequest, errors_as_ours, open_backend
from data.errors import (
    AccessError,
    ArenaError,
    ForbiddenError,
    InputError,
    InvalidFileError,
    NotFoundError,
    RecordError,
)
from data.errors import ServerError as ArenaServerError

CONTENT = bytes(range(256)) * 4_096


REPORT = {
    **dict.fromkeys(("rows", "answers", "questions", "no_answers", "with_contexts", "errors", "warnings"), 0),
    "set": "s",
    "kind": "answers",
    "accepted": False,
    "format": "jsonl",
    "content_hash": "",
    "coverage": {},
    "problems": [],
}


class Breaking(ThreadingHTTPServer):
    """Takes a file, and breaks the line off so many times before."""

    def __init__(self, breaks: int = 0, refusal: tuple[int, bytes] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.daemon_threads = True
        self.breaks = breaks
        self.refusal = refusal
        self.received: list[bytes] = []
        self.asked: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Breaking

    def do_POST(self) -> None:
        self.server.asked.append(dict(parse_qsl(urlsplit(self.path).query)))
        asked = int(self.headers["Content-Length"])
        if len(self.server.received) < self.server.breaks:
            self.server.received.append(self.rfile.read(asked // 2))
            self.close_connection = True
            self.connection.close()
            return
        self.server.received.append(self.rfile.read(asked))
        status, body = self.server.refusal or (200, json.dumps(REPORT).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def breaking() -> Iterator[Callable[..., Breaking]]:
    """Start such servers."""
    started: list[Breaking] = []

    def start(breaks: int = 0, refusal: tuple[int, bytes] | None = None) -> Breaking:
        server = Breaking(breaks, refusal)
        started.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a megabyte."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(CONTENT)
    return path


def client_of(address: str, token: str | None = None) -> Client:
    """A client that never waits."""
    return Client(address, token, sleep=lambda _seconds: None)


def test_file_is_sent_again_over_a_line_that_breaks(breaking: Callable[..., Breaking], file: Path) -> None:
    """A broken line costs a try; the next one sends the whole file, named as it is on the disk."""
    server = breaking(breaks=2)
    with client_of(server.address) as client:
        assert client.submissions.check(file, "s", keep_na=True).set == "s"
    assert [len(part) for part in server.received[:2]] == [len(CONTENT) // 2] * 2
    assert server.received[2:] == [CONTENT]
    assert server.asked[-1] == {"file_name": "answers.jsonl", "keep_na": "true"}


def test_line_that_never_holds_is_given_up(breaking: Callable[..., Breaking], file: Path) -> None:
    """A server that always breaks off is an error that names its address, after so many tries."""
    server = breaking(breaks=10**6)
    with client_of(server.address) as client, pytest.raises(ConnectionFailedError, match="cannot be reached"):
        client.submissions.check(file, "s")
    assert len(server.asked) == Retries().tries


def test_wish_travels_with_the_file_and_progress_is_told(
    breaking: Callable[..., Breaking], file: Path
) -> None:
    """What is submitted stands in the address, the card as JSON without its empty fields."""
    server = breaking(refusal=(409, b"{}"))
    told: list[int] = []
    with client_of(server.address) as client, pytest.raises(StatusError):
        client.submissions.submit(
            file, "s", system="mine", card={"model": "m", "notes": ""}, sent=lambda done, _: told.append(done)
        )
    assert server.asked[-1] == {
        "file_name": "answers.jsonl",
        "system": "mine",
        "card": '{"model": "m"}',
    }
    assert told[-1] == len(CONTENT)


def test_problems_of_the_arena_are_ours(breaking: Callable[..., Breaking], file: Path) -> None:
    """What the arena refuses is raised as the same kind of error, with its advice and problems."""
    listed = b'{"detail": "d", "advice": "a", "problems": [{"line": 3, "code": "c", "message": "m"}]}'
    for refusal, kind in (
        ((401, b'{"detail": "Not valid.", "advice": "Ask."}'), AccessError),
        ((413, b"{}"), InputError),
        ((422, listed), InvalidFileError),
    ):
        server = breaking(refusal=refusal)
        with client_of(server.address) as client, pytest.raises(kind) as raised, errors_as_ours():
            client.submissions.check(file, "s")
        if isinstance(raised.value, InvalidFileError):
            assert [(one.line, one.code) for one in raised.value.problems] == [(3, "c")]


@pytest.mark.parametrize(
    "address", ["", "arena.example", "ftp://a.example", "http://", "http://me:pw@a.example"]
)
def test_address_that_is_none_is_refused(address: str) -> None:
    """An address without scheme or host, or with a password in it, is refused with an example."""
    with pytest.raises(UsageError, match="https://arena"):
        Client(address)


@pytest.mark.parametrize("token", ["aa_x\r\nX-Evil: 1", "aa x", "aa_ä"])
def test_token_cannot_carry_headers(token: str) -> None:
    """A token with line ends, spaces or other signs is refused, and not repeated."""
    with pytest.raises(UsageError) as raised:
        Client("https://arena.example", token)
    assert token not in str(raised.value)


def test_token_needs_an_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A token without an address would be for nothing: the command says so."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    monkeypatch.delenv("ARENA_SERVER", raising=False)

    def sent(_done: int, _total: int) -> None: ...

    arguments: Any = (None, "aa_x_y")
    with pytest.raises(InputError, match="--server"):
        open_backend(*arguments, sent=sent)


@pytest.mark.long
@pytest.mark.parametrize("name", ["../tiny", "a?b#c", "tiny/check", ""])
def test_set_that_cannot_be_one_is_not_asked_for(
    breaking: Callable[..., Breaking], file: Path, name: str
) -> None:
    """The name of a set cannot lead to another address: it is refused before anything is sent."""
    server = breaking()
    with client_of(server.address) as client:
        round_admin = RemoteBackend(client, sent=lambda _done, _total: None)
        with pytest.raises(RecordError, match="Question set"):
            round_admin.check(file, SubmissionRequest(set_name=name, system=""))
        with pytest.raises(RecordError, match="Question set"):
            round_admin.add(file, SubmissionRequest(set_name=name, system="s"))
    assert server.asked == []


class Answers:
    """Answers with what was prepared, and records what was asked and how long it was waited."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.waited: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Give the next answer."""
        self.asked.append(f"{request.method} {request.url.raw_path.decode()}")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> Client:  # noqa: ANN401 - options of any type
        """A client that gets these answers."""
        transport = httpx.MockTransport(self)
        return Client("https://arena.example", transport=transport, sleep=self.waited.append, **options)


NOTHING: dict[str, object] = {"sets": []}


def test_what_is_refused_for_now_is_asked_again_when_the_arena_says() -> None:
    """After 429 and 503 the client waits as `Retry-After` says, in seconds or as a date, else ever longer."""
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    answers = Answers(
        httpx.Response(429, headers={"Retry-After": "7"}),
        httpx.Response(503, headers={"Retry-After": later}),
        httpx.Response(502),
        httpx.ConnectError("refused"),
        httpx.Response(200, json=NOTHING),
    )
    assert answers.client().sets.all() == []
    assert answers.waited[0] == 7
    assert 25 < answers.waited[1] <= 30
    assert 0.5 <= answers.waited[2] <= 2 < answers.waited[3] * 2 <= 8


def test_patience_ends() -> None:
    """A wait that is too long is not waited, and after the last try the refusal is raised."""
    answers = Answers(httpx.Response(429, headers={"Retry-After": "3600"}, json={"detail": "Too many."}))
    with pytest.raises(RateLimitError, match="Too many") as raised:
        answers.client().sets.all()
    assert (raised.value.retry_after, answers.waited) == (3600, [])
    answers = Answers(*(httpx.Response(503, json={"error_id": "e7"}) for _ in range(2)))
    with pytest.raises(ServerError) as failed:
        answers.client(retries=Retries(tries=2)).sets.all()
    assert (failed.value.error_id, len(answers.waited)) == ("e7", 1)


def test_what_may_have_been_done_is_not_done_twice() -> None:
    """A POST whose answer got lost is not sent again; one that never left is."""
    lost = Answers(httpx.ReadError("broken"))
    with pytest.raises(ConnectionFailedError):
        lost.client().submissions.confirm(1)
    lost = Answers(httpx.Response(504))
    with pytest.raises(ServerError):
        lost.client().submissions.confirm(1)
    unsent = Answers(httpx.ConnectError("refused"), httpx.Response(404, json={"detail": "No such one."}))
    with pytest.raises(StatusError, match="No such one"):
        unsent.client().submissions.confirm(1)
    assert len(unsent.asked) == 2
    slow = Answers(httpx.ReadTimeout("slow"))
    with pytest.raises(TimedOutError, match="timeout"):
        slow.client().sets.all()


def test_kinds_of_conflicts_are_told_apart() -> None:
    """What the quota and the phase forbid are errors of their own, by the type of the problem."""
    for end, kind in (("quota-used-up", QuotaError), ("closed", ClosedError)):
        body = {"type": f"/api/v1/#problem-{end}", "detail": "No.", "advice": "Wait."}
        with pytest.raises(kind, match=r"No\. Wait\."):
            Answers(httpx.Response(409, json=body)).client().submissions.select(3)


def test_retracted_board_is_an_error_with_its_notice() -> None:
    """A board that was taken down is raised with why, and here too as what is not there."""
    answers = Answers(*(httpx.Response(410, json={"notice": "A mistake."}) for _ in range(2)))
    client = answers.client()
    with pytest.raises(RetractedError, match="A mistake"):
        client.boards.get("demo")
    with pytest.raises(NotFoundError, match="A mistake"), errors_as_ours():
        client.boards.get("demo")


def test_pages_are_asked_for_when_they_are_wanted() -> None:
    """A list in pages is followed to its end, and no page is asked for before its first item is wanted."""

    def page(number: int, following: int | None) -> httpx.Response:
        question = {"id": f"q{number}", "domain": "d", "question": "?", "split": "test", "passages": []}
        return httpx.Response(200, json={"questions": [question], "next": following})

    answers = Answers(page(1, 7), page(2, None))
    questions = answers.client().sets.questions("a b", page=1)
    assert answers.asked == []
    assert next(questions).id == "q1"
    assert answers.asked == ["GET /api/v1/sets/a%20b/questions?limit=1"]
    assert [question.id for question in questions] == ["q2"]
    assert answers.asked[1].endswith("limit=1&after=7")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"sets": [{"name": 3}]}),
    ],
    ids=["page", "list", "fields"],
)
def test_answer_of_something_else_is_an_error(answer: httpx.Response) -> None:
    """What is no answer of an arena is an error that names the address, and no traceback of a parser."""
    with pytest.raises(AnswerError, match="/api/v1/sets"):
        Answers(answer).client().sets.all()


@pytest.mark.parametrize("name", ["", "..", "a\nb", "x" * 201])
def test_name_that_cannot_be_one_is_not_asked_for(name: str) -> None:
    """A name cannot lead to another address: slashes are quoted, and what cannot be a name is refused."""
    answers = Answers()
    with pytest.raises(UsageError, match="no name"):
        answers.client().boards.get(name)
    assert answers.asked == []


def test_question_with_a_slash_is_one_part_of_the_address() -> None:
    """Slashes and question marks of ids are quoted."""
    answers = Answers(httpx.Response(404, json={"detail": "None."}))
    with pytest.raises(StatusError):
        answers.client().rounds.evidence("r", "a/b?c")
    assert answers.asked == ["GET /api/v1/rounds/r/questions/a%2Fb%3Fc"]


def test_waiting_ends_when_the_submission_is_judged_or_the_time_is_over() -> None:
    """`wait` asks again and again; its end is the state, or an error that names the state."""

    def line(state: str) -> httpx.Response:
        fields = {"id": 1, "set": "s", "system": "x", "team": "", "version": 1, "kind": "answers"}
        fields |= {"state": state, "phase": "", "anonymous": False, "selected": False, "answers": 1}
        fields |= {"no_answers": 0, "content_hash": "", "card": {}, "created_at": "2026-01-01T00:00:00Z"}
        fields |= {"withdrawn_at": None, "withdrawn_reason": "", "visibility": "full", "rounds": []}
        fields |= {"position": 1, "eta": None, "charged": True, "attempt": None, "attempts": 0}
        return httpx.Response(200, json={**fields, "retracted": [], "coverage": {}, "no_answer_share": {}})

    answers = Answers(line("queued"), line("queued"), line("judged"))
    assert answers.client().submissions.wait(1, every=2).state == "judged"
    assert answers.waited == [2, 2]
    with pytest.raises(TimedOutError, match="queued after 1 seconds"):
        Answers(line("queued")).client().submissions.wait(1, every=2, timeout=1)


def test_secrets_are_not_shown() -> None:
    """The token stands neither in the client's text nor in an error."""
    with Client("https://arena.example/api/v1", "aa_secret") as client:
        assert repr(client) == "Client('https://arena.example')"


def test_file_that_cannot_be_sent_is_named(tmp_path: Path) -> None:
    """A file that is missing or empty is refused by its name before anything is sent."""
    answers = Answers()
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    for path, words in ((tmp_path / "none.jsonl", "No such file"), (empty, "empty")):
        with pytest.raises(UsageError, match=words):
            answers.client().submissions.submit(path, "s", system="x")
    with pytest.raises(UsageError, match="No such file"):
        answers.client().submissions.check(tmp_path / "none.jsonl", "s")
    assert answers.asked == []


@pytest.mark.parametrize(
    ("status", "kind"), [(403, ForbiddenError), (404, NotFoundError), (500, ArenaServerError)]
)
def test_commands_get_errors_of_this_arena(status: int, kind: type[Exception]) -> None:
    """What another arena refuses is the same kind of error for commands as here, with its advice."""
    body = {"detail": "No.", "advice": "Ask."}
    with pytest.raises(kind, match="Ask") as raised, errors_as_ours():
        Answers(httpx.Response(status, json=body)).client().me()
    assert isinstance(raised.value, ArenaError)


def test_moment_to_try_again_is_read_or_left() -> None:
    """A `Retry-After` that is neither seconds nor a date says nothing."""
    assert seconds_of("soon") is None
    assert seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0
