from __future__ import annotations

import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.arena.api.conftest import api_of
from tests.served import ROOT, free_port, published

CONFIGURATION = ROOT / "docs" / "deploy" / "nginx.conf"
NAME = "arena.example.org"


def _certificate(folder: Path) -> None:
    names = ["-keyout", str(folder / "arena.key"), "-out", str(folder / "arena.pem"), "-subj", f"/CN={NAME}"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def _nginx(program: str, folder: Path, site: int, port: int, *, asked_from: str) -> Iterator[None]:
    """Run nginx with the documented configuration, with temporary ports and files."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    for old, new in (
        ("server 127.0.0.1:8501;", f"server 127.0.0.1:{site};"),
        ("listen 443 ssl;", f"listen {port} ssl;"),
        ("/etc/ssl/certs/arena.pem", str(folder / "arena.pem")),
        ("/etc/ssl/private/arena.key", str(folder / "arena.key")),
        ("proxy_http_version 1.1;", f"proxy_http_version 1.1;\n        proxy_bind {asked_from};"),
    ):
        assert old in text
        text = text.replace(old, new)
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{text}\n}}\n"
    )
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def _client(port: int, address: str) -> httpx.Client:
    """Return a client with its own address that reaches the proxy by the site's name."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    transport = httpx.HTTPTransport(local_address=address, verify=context)
    return httpx.Client(
        base_url=f"https://127.0.0.1:{port}", headers={"Host": NAME}, transport=transport, timeout=60
    )


@pytest.mark.slow
def test_nginx_keeps_visitors_distinct_and_cookies_secure(tmp_path: Path) -> None:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None or shutil.which("openssl") is None:
        pytest.skip("NO nginx: the documented configuration is not tested")
    _certificate(tmp_path)
    port = free_port()
    variables = {
        "ARENA_PUBLIC_URL": f"https://{NAME}",
        "ARENA_PROXIES": "127.0.0.2/32",
        "ARENA_API_RATE": "4",
    }
    with api_of(published(), tmp_path / "log", **variables) as address:
        site = int(address.removesuffix("/api/v1").rpartition(":")[2])
        with (
            _nginx(nginx, tmp_path, site, port, asked_from="127.0.0.2"),
            _client(port, "127.0.0.11") as first,
            _client(port, "127.0.0.12") as second,
        ):
            for _ in range(100):
                try:
                    if first.get("/healthz").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.1)
            form = first.get("/auth/sign-in")
            assert "Secure" in form.headers["set-cookie"]
            forged = {"X-Forwarded-For": "203.0.113.77"}
            statuses = [first.get("/api/v1/sets", headers=forged).status_code for _ in range(4)]
            assert statuses[:3] == [200] * 3
            assert first.get("/api/v1/sets", headers=forged).status_code == 429
            assert second.get("/api/v1/sets").status_code == 200
            assert first.get("/metrics").status_code == first.get("/_stcore/metrics").status_code == 403
    assert "a proxy that is not in ARENA_PROXIES" not in (tmp_path / "log").read_text()
