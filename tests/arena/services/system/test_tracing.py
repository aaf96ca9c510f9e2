"""Traces of rounds: spans by the conventions for generative AI, without texts, and only where asked for."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.system.open_telemetry import OpenTelemetry
from arena.services.system.tracing import NoTracing
from arena.settings import Traces, read_settings
from data.errors import InputError
from data.records import Reply
from judges.llm.errors import CallError, CallErrorKind
from judges.llm.requests import Message, Request
from tests.scripted_llm import ScriptedLLM

ROOT = Path(__file__).parents[4]


class Collector(ThreadingHTTPServer):
    """Takes traces by OTLP over HTTP, as an OpenTelemetry collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.daemon_threads = True
        self.bodies: list[bytes] = []
        self.paths: set[str] = set()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def received(self) -> list[ExportTraceServiceRequest]:
        """What was sent."""
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Span]:
        """Every span of it."""
        return [
            span
            for request in self.received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.paths.add(self.path)
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    server = Collector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def attributes_of(span: Span) -> dict[str, Any]:
    """The attributes of a span, as Python values."""

    def value_of(value: Any) -> Any:  # noqa: ANN401 - one of several kinds
        kind = value.WhichOneof("value")
        return (
            [value_of(one) for one in value.array_value.values]
            if kind == "array_value"
            else getattr(value, kind)
        )

    return {pair.key: value_of(pair.value) for pair in span.attributes}


@pytest.mark.long
def test_round_of_a_command_arrives_at_a_collector(
    filled: Callable[..., Arena], scripted_llm: Callable[..., ScriptedLLM], collector: Collector
) -> None:
    """A command sends a span a round, below it one a battle, below that one an LLM request; no text."""
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    request = RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all", canaries=0)
    arena.rounds.create(request)
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ARENA_")},  # noqa: TID251
        "ARENA_HOME": str(arena.settings.home),
        "ARENA_DATABASE_URL": arena.settings.database_url,
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-secret-key-of-the-test",
        "ARENA_TRACES": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
        "OTEL_SERVICE_NAME": "arena-of-the-lab",
    }
    done = subprocess.run(
        [sys.executable, "-m", "arena", "rounds", "resume", "r"],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert collector.paths == {"/v1/traces"}
    (resource,) = {
        pair.value.string_value
        for request in collector.received
        for spans in request.resource_spans
        for pair in spans.resource.attributes
        if pair.key == "service.name"
    }
    assert resource == "arena-of-the-lab"

    spans = {span.span_id: span for span in collector.spans}
    (round_span,) = (span for span in spans.values() if span.name == "round r")
    battles = [span for span in spans.values() if span.name == "battle"]
    calls = [span for span in spans.values() if span.kind == Span.SPAN_KIND_CLIENT]
    assert len(battles) == 72
    assert {battle.parent_span_id for battle in battles} == {round_span.span_id}
    assert {call.parent_span_id for call in calls} <= {battle.span_id for battle in battles}
    assert len(calls) == server.log.calls
    assert attributes_of(round_span) == {
        "arena.round": "r",
        "arena.set": "tiny",
        "arena.judge": "reference-free",
    }
    assert attributes_of(battles[0])["arena.outcome"] == "judged"
    call = attributes_of(calls[0])
    assert call["gen_ai.operation.name"] == "chat"
    assert call["gen_ai.provider.name"] == "openai"
    assert calls[0].name == f"chat {call['gen_ai.request.model']}"
    assert call["gen_ai.response.id"].startswith("chatcmpl-")
    assert call["gen_ai.response.finish_reasons"] == ["stop"]
    assert call["gen_ai.usage.input_tokens"] > 0
    assert call["gen_ai.usage.output_tokens"] > 0
    assert (call["server.address"], call["server.port"]) == (
        "127.0.0.1",
        int(server.url.split(":")[2].split("/")[0]),
    )
    everything = b"".join(collector.bodies)
    assert b"What do we know" not in everything
    assert b"grams" not in everything
    assert b"sk-secret" not in everything


@pytest.mark.long
def test_traces_are_off_by_default(filled: Callable[..., Arena]) -> None:
    """Without the setting nothing stands around judges and transports, and OpenTelemetry is not imported."""
    arena = filled()
    assert isinstance(arena.tracing, NoTracing)
    transport: Any = object()
    assert arena.tracing.transport(transport) is transport
    program = (
        "import sys\n"
        "from arena.container import open_arena\n"
        "from arena.services.rounds.models import RoundRequest\n"
        "arena = open_arena()\n"
        "arena.rounds.create(RoundRequest(set_name='tiny', judge='lexical', pairs='all', name='r'))\n"
        "arena.rounds.run('r', concurrency=2, report=lambda _progress: None)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])\n"
    )
    variables = {
        **os.environ,  # noqa: TID251
        "ARENA_HOME": str(arena.settings.home),
        "ARENA_DATABASE_URL": arena.settings.database_url,
    }
    variables.pop("ARENA_TRACES", None)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


class Failing:
    """A transport that fails in a given way."""

    unlimited = False

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.stopped = 0

    async def send(self, _request: Request) -> Reply:
        """Fail."""
        raise self.error

    def stop(self) -> None:
        """Count."""
        self.stopped += 1

    async def close(self) -> None:
        """Do nothing."""


REQUEST = Request(
    endpoint="https://api.anthropic.com/v1", model="m", messages=(Message("user", "a secret question"),)
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CallError(CallErrorKind.RATE_LIMITED, "key sk-1 is busy", usage=(7, 0)), "rate_limited"),
        (ValueError("a secret question"), "ValueError"),
        (asyncio.CancelledError(), "CancelledError"),
    ],
    ids=["fault", "defect", "cancelled"],
)
def test_failed_request_is_an_error_without_words(error: BaseException, kind: str) -> None:
    """A span of a request that failed has the kind of its error and the tokens charged, never the message."""
    exporter = InMemorySpanExporter()
    tracing = OpenTelemetry(SimpleSpanProcessor(exporter))
    failing = Failing(error)
    transport = tracing.transport(failing)
    with pytest.raises(type(error)):
        asyncio.run(transport.send(REQUEST))
    transport.stop()
    assert (failing.stopped, transport.unlimited) == (1, False)
    (span,) = exporter.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["error.type"] == kind
    assert span.attributes["gen_ai.provider.name"] == "anthropic"
    assert span.attributes.get("gen_ai.usage.input_tokens") == (7 if kind == "rate_limited" else None)
    assert (span.status.is_ok, span.status.description, span.events) == (False, None, ())
    assert "secret" not in span.to_json()
    tracing.close()


def test_traces_without_the_library_say_what_to_install(
    make_arena: Callable[..., Arena], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where traces are asked for and the extra is missing, judging is refused in words that name it."""
    monkeypatch.delitem(sys.modules, "arena.services.system.open_telemetry")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    arena = make_arena(traces=Traces.OTLP)
    with pytest.raises(InputError, match=r"answer-arena\[otel\]"):
        _ = arena.judges
    with pytest.raises(InputError, match="off or otlp"):
        read_settings({"ARENA_TRACES": "jaeger"})
