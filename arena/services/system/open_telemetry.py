"""Traces of rounds by OpenTelemetry, after its semantic conventions for generative AI.

A span a round and worker, below it one a battle, below that one for each request that was sent to an LLM.
Texts (prompts, replies, reasons, messages of faults) are never part of a span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Self
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

from arena import own_version
from data.records import Reply, Round, Verdict
from judges.base import Judge, JudgeInput
from judges.llm.chat_format import Transport
from judges.llm.errors import CallError
from judges.llm.requests import Request

SERVICE = "answer-arena"
PROVIDERS: Mapping[str, str] = {
    "api.anthropic.com": "anthropic",
    "api.cohere.com": "cohere",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
    "generativelanguage.googleapis.com": "gcp.gemini",
}
OPENAI = "openai"
"""Of OpenAI and of all that speaks as it does: the conventions leave the rest to `server.address`."""
PORTS = {"http": 80, "https": 443}

Attributes = dict[str, str | int | float | Sequence[str]]


class OpenTelemetry:
    """Makes spans and gives them to a processor."""

    def __init__(self, processor: SpanProcessor) -> None:
        defaults = {"service.name": SERVICE, "service.version": own_version()}
        resource = Resource.create({**defaults, **OTELResourceDetector().detect().attributes})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer(SERVICE, own_version())

    @classmethod
    def over_http(cls) -> Self:
        """Send spans by OTLP over HTTP, where and how the SDK's variables (`OTEL_…`) say."""
        return cls(BatchSpanProcessor(OTLPSpanExporter()))

    @contextmanager
    def round(self, round_: Round, judge: Judge) -> Iterator[Judge]:
        """The judge of a round, with a span for each battle below one for the round."""
        attributes: Attributes = {
            "arena.round": round_.name,
            "arena.set": round_.set_name,
            "arena.judge": judge.name,
        }
        # Not the current span: battles are judged in tasks that may outlive the block's own.
        span = self._tracer.start_span(f"round {round_.name}", attributes=attributes)
        try:
            yield _TracedJudge(judge, self._tracer, trace.set_span_in_context(span), round_.name)
        except BaseException as error:
            _mark(span, type(error).__name__)
            raise
        finally:
            span.end()

    def transport(self, transport: Transport) -> Transport:
        """A transport with a span for each request that is sent."""
        return _TracedTransport(transport, self._tracer)

    def close(self) -> None:
        """Send what was not sent yet."""
        self._provider.shutdown()


class _TracedJudge:
    def __init__(self, judge: Judge, tracer: Tracer, below: Context, round_name: str) -> None:
        self._judge, self._tracer, self._below, self._round = judge, tracer, below, round_name

    @property
    def name(self) -> str:
        return self._judge.name

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        attributes: Attributes = {
            "arena.round": self._round,
            "arena.battle": judge_input.battle_id,
            "arena.question": judge_input.question.id,
            "arena.domain": judge_input.question.domain,
        }
        with _span(self._tracer, "battle", attributes, SpanKind.INTERNAL, self._below) as span:
            verdict = await self._judge.judge(judge_input)
            span.set_attributes(
                {
                    "arena.outcome": verdict.outcome.value,
                    "arena.preference": "" if verdict.preference is None else verdict.preference.value,
                    "arena.judgments": len(verdict.judgments),
                    "arena.calls": sum(judgment.calls for judgment in verdict.judgments),
                }
            )
            return verdict


class _TracedTransport:
    def __init__(self, transport: Transport, tracer: Tracer) -> None:
        self._transport, self._tracer = transport, tracer

    @property
    def unlimited(self) -> bool:
        return self._transport.unlimited

    async def send(self, request: Request) -> Reply:
        attributes = _asked(request)
        with _span(self._tracer, f"chat {request.model}", attributes, SpanKind.CLIENT) as span:
            try:
                reply = await self._transport.send(request)
            except CallError as fault:
                # Its words may quote a key or a prompt.
                _mark(span, fault.kind.value)
                span.set_attributes(_used(*fault.usage))
                raise
            span.set_attributes(_answered(reply))
            return reply

    def stop(self) -> None:
        self._transport.stop()

    async def close(self) -> None:
        await self._transport.close()


@contextmanager
def _span(
    tracer: Tracer, name: str, attributes: Attributes, kind: SpanKind, below: Context | None = None
) -> Iterator[Span]:
    """A span that is the current one; of an exception it keeps the kind alone."""
    with tracer.start_as_current_span(
        name,
        context=below,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except CallError:
            raise
        except BaseException as error:
            _mark(span, type(error).__name__)
            raise


def _mark(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def _asked(request: Request) -> Attributes:
    address, sampling = urlsplit(request.endpoint), request.sampling
    host = address.hostname or ""
    known: dict[str, str | int | float | Sequence[str] | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(host, OPENAI),
        "gen_ai.request.model": request.model,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.request.max_tokens": sampling.max_tokens,
        "gen_ai.request.seed": sampling.seed,
        "gen_ai.request.stop_sequences": sampling.stop or None,
        "gen_ai.output.type": "text" if request.response_format is None else "json",
        "server.address": host,
        "server.port": address.port or PORTS.get(address.scheme),
    }
    return {name: value for name, value in known.items() if value is not None}


def _answered(reply: Reply) -> Attributes:
    attributes = _used(reply.input_tokens, reply.output_tokens)
    if reply.finish_reason:
        attributes["gen_ai.response.finish_reasons"] = (reply.finish_reason,)
    if reply.response_id:
        attributes["gen_ai.response.id"] = reply.response_id
    if reply.response_model:
        attributes["gen_ai.response.model"] = reply.response_model
    return attributes


def _used(input_tokens: int, output_tokens: int) -> Attributes:
    """Tokens; none where the endpoint says nothing of them."""
    if not input_tokens and not output_tokens:
        return {}
    return {"gen_ai.usage.input_tokens": input_tokens, "gen_ai.usage.output_tokens": output_tokens}
