"""A small, strict OpenID Connect provider: discovery, a form, one-time codes, signatures."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "arena"
FORM = (
    '<!doctype html><title>Who are you?</title><form method="post" action="/consent">'
    '<input type="hidden" name="request" value="{request}"><button>I am who I am</button></form>'
)


@dataclass(kw_only=True)
class Provider:
    """A running provider.

    Attributes:
        claims: Claims about the user, in addition to those of every token.
        forge: Sign tokens with a key that is not published.
        exchanged: Codes that were exchanged for tokens.
    """

    claims: dict[str, Any] = field(default_factory=dict)
    forge: bool = False
    exchanged: int = 0
    client_secret: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "published"}))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def settings(self, site: str) -> str:
        """Return the `[auth]` section of the site, as in docs/operations.md."""
        return (
            f'[auth]\nredirect_uri = "{site}/oauth2callback"\ncookie_secret = "{secrets.token_hex(32)}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "{self.client_secret}"\n'
            f'server_metadata_url = "{self.issuer}/.well-known/openid-configuration"\n'
        )

    def metadata(self) -> dict[str, Any]:
        """Return the discovery document."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def consent(self, request: dict[str, str]) -> str:
        """Return the redirect URL of the consent button, with a new code."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = request
        return f"{request['redirect_uri']}?{urlencode({'code': code, 'state': request['state']})}"

    def exchange(self, sent: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """Return the tokens for a code; None if client, code, address or verifier are wrong."""
        basic = base64.b64encode(f"{CLIENT}:{self.client_secret}".encode()).decode()
        request = self.codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        right = (
            authorization == f"Basic {basic}"
            and request is not None
            and request["redirect_uri"] == sent.get("redirect_uri")
            and request["code_challenge"] == challenge
        )
        if request is None or not right:
            return None
        self.exchanged += 1
        return {
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self._signed(request),
        }

    def _signed(self, request: dict[str, str]) -> str:
        at = int(time.time())
        always = {"iss": self.issuer, "aud": CLIENT, "iat": at, "exp": at + 300, "nonce": request["nonce"]}
        key = RSAKey.generate_key(2048, {"kid": "published"}) if self.forge else self.key
        return jwt.encode({"alg": "RS256", "kid": "published"}, {**always, **self.claims}, key)


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider on a free port until the end of the block."""
    provider = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(provider))
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_of(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/.well-known/openid-configuration":
                self._json(provider.metadata())
            elif parts.path == "/keys":
                self._json({"keys": [{**provider.key.as_dict(private=False), "use": "sig", "alg": "RS256"}]})
            elif parts.path == "/authorize" and dict(parse_qsl(parts.query)).get("client_id") == CLIENT:
                request = base64.urlsafe_b64encode(parts.query.encode()).decode()
                self._send(200, "text/html", FORM.format(request=request))
            else:
                self._send(404, "text/plain", "nothing here")

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            sent = dict(parse_qsl(self.rfile.read(length).decode()))
            if self.path == "/consent":
                request = dict(parse_qsl(base64.urlsafe_b64decode(sent["request"]).decode()))
                self.send_response(303)
                self.send_header("Location", provider.consent(request))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            tokens = provider.exchange(sent, self.headers.get("Authorization", ""))
            self._json(tokens or {"error": "invalid_grant"}, 200 if tokens else 400)

        def log_message(self, *_parts: object) -> None:
            """Log nothing."""

        def _json(self, body: object, status: int = 200) -> None:
            self._send(status, "application/json", json.dumps(body))

        def _send(self, status: int, kind: str, body: str) -> None:
            content = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
