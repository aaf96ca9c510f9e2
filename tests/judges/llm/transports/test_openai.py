from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from arena.settings import read_settings
from data.errors import EndpointError
from data.models import Outcome, Reply
from judges.llm.client import open_client
from judges.llm.requests import CallFailure, Message, Request
from judges.llm.settings import AccessSettings
from tests.narrow import instance

Serve = Callable[..., Any]
BOTH = ("openai", "direct")


def ask(
    url: str, transport: str, texts: Sequence[str] = ("Why? é",), model: str = "gpt-4o"
) -> list[Reply | CallFailure]:
    fast: dict[str, Any] = {"backoff": 0.01, "longest_backoff": 0.02, "attempts": 2}

    async def run() -> list[Reply | CallFailure]:
        async with open_client(AccessSettings(transport=transport, api_key="key", **fast)) as client:
            return [
                await client.ask(Request(endpoint=url, model=model, messages=(Message("user", text),)))
                for text in texts
            ]

    return asyncio.run(run())


def test_direct_and_litellm_send_same_body_and_key(scripted_llm: Serve) -> None:
    bodies = []
    for transport in BOTH:
        server = scripted_llm(first=["fine"])
        [reply] = ask(server.url, transport)
        assert isinstance(reply, Reply)
        assert reply.text == "fine"
        bodies.append(server.log.bodies[-1])
    assert bodies[0] == bodies[1]


def test_direct_and_litellm_use_proxy_of_environment(
    scripted_llm: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, near = scripted_llm(first=["by proxy", "by proxy"]), scripted_llm(first=["near", "near"])
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for transport in BOTH:
        for url, text in (("http://models.invalid/v1", "by proxy"), (near.url, "near")):
            [reply] = ask(url, transport)
            assert isinstance(reply, Reply), reply
            assert reply.text == text


def test_netrc_does_not_replace_key(
    scripted_llm: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for transport in BOTH:
        server = scripted_llm(first=["fine"])
        [reply] = ask(server.url, transport)
        assert isinstance(reply, Reply)
        assert server.log.headers[-1]["Authorization"] == "Bearer key"


@pytest.mark.slow
def test_litellm_does_not_retry(scripted_llm: Serve) -> None:
    server = scripted_llm(first=["server_error", "fine", "refusal", "good"])
    first, refused, last = ask(server.url, "litellm", ("one", "two", "three"), "openai/gpt-4o")
    assert [instance(Reply, reply).text for reply in (first, last)] == ["fine", "good"]
    assert instance(CallFailure, refused).outcome is Outcome.REFUSED
    assert None not in {first.cost_usd, refused.cost_usd, last.cost_usd}
    assert server.log.calls == 4


def test_direct_is_default_and_sends_equal_requests() -> None:
    assert read_settings({}).transport == "direct"
    assert read_settings({"OPENAI_ORG_ID": "org"}).transport == "openai"
    assert read_settings({"OPENAI_ORG_ID": "org", "ARENA_TRANSPORT": "litellm"}).transport == "litellm"


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["openai", "direct", "litellm"])
@pytest.mark.parametrize("status", [307, 308])
def test_redirect_is_not_followed(scripted_llm: Callable[..., Any], transport: str, status: int) -> None:
    other = scripted_llm(first=["taken"])

    class Leads(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Location", f"{other.url.replace('127.0.0.1', 'localhost')}/chat/completions")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    async def call(url: str) -> Reply | CallFailure:
        settings = AccessSettings(transport=transport, api_key="key", attempts=1)
        async with open_client(settings) as client:
            message = Message("user", "a private reference")
            return await client.ask(Request(endpoint=url, model="openai/x", messages=(message,)))

    with ThreadingHTTPServer(("127.0.0.1", 0), Leads) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(EndpointError, match="redirects to another address, which is not followed"):
            asyncio.run(call(f"http://127.0.0.1:{server.server_port}/v1"))
        server.shutdown()
    assert not other.log.bodies


@pytest.mark.parametrize("transport", [*BOTH, pytest.param("litellm", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "days", "trusted", "cause"),
    [
        ("127.0.0.1", 1, False, "self-signed certificate"),
        ("127.0.0.1", -1, True, "certificate has expired"),
        ("192.0.2.1", 1, True, "IP address mismatch"),
    ],
)
def test_invalid_certificate_stops_endpoint_at_first_call(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transport: str,
    name: str,
    days: int,
    trusted: bool,
    cause: str,
) -> None:
    files = tmp_path / "key.pem", tmp_path / "certificate.pem"
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "endpoint")])
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(name))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    nothing = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    files[0].write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, nothing))
    files[1].write_bytes(signed.public_bytes(pem))
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(files[1]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    calls: list[int] = []

    class Counted(ThreadingHTTPServer):
        def get_request(self) -> tuple[Any, Any]:
            calls.append(1)
            return super().get_request()

    with Counted(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(EndpointError, match=f"TLS certificate is not valid: .*{cause}"):
            ask(f"https://127.0.0.1:{server.server_port}/v1", transport, ["a"] * 3, "openai/gpt-4o")
        server.shutdown()
    assert len(calls) == 1
