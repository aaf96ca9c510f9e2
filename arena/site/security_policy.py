"""The security headers of every answer: whose scripts run, who may frame a page, what is sent on."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

from streamlit import file_util

ALWAYS: Mapping[str, str] = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
PAGES = (
    "default-src 'self'",
    # Without the word, each page reports that Streamlit's Protobuf decoder may not use WebAssembly for its
    # whole numbers. It lets WebAssembly be compiled, and no text be run as a script.
    "script-src 'self' 'wasm-unsafe-eval'{hashes}",
    # Streamlit's components write their styles into the page as they are drawn.
    "style-src 'self' 'unsafe-inline'",
    # Charts and icons are drawn as data; what is downloaded of a chart is a blob.
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
)


def page_policy(framers: Sequence[str]) -> str:
    """Return the policy of Streamlit's pages: scripts of this server alone.

    Its document has one script of its own inside, which is let in by its hash; charts are drawn by Vega's
    interpreter, so that nothing is evaluated.
    """
    document = Path(file_util.get_static_dir()) / "index.html"
    hashes = "".join(f" '{digest}'" for digest in script_hashes(document.read_text(encoding="utf-8")))
    frames = " ".join(("frame-ancestors 'self'", *framers))
    return "; ".join((*PAGES, frames)).format(hashes=hashes)


def script_hashes(document: str) -> tuple[str, ...]:
    """Return the inline scripts of a document, as a policy names them.

    Source: W3C, Content Security Policy Level 3, section 2.3.1 (hash-source).
    """
    parser = _Scripts()
    parser.feed(document)
    digests = (hashlib.sha256(text.encode()).digest() for text in parser.texts)
    return tuple(f"sha256-{base64.b64encode(digest).decode()}" for digest in digests)


class _Scripts(HTMLParser):
    """Collects the scripts inside a document."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and "src" not in dict(attrs)
        if self._inside:
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data
