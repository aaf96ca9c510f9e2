"""Search servers and rerankers over real HTTP, each with the reply that its documentation shows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from data.errors import NotFoundError, SpecError
from data.records import Passage
from judges.llm.requests import CallFailure
from judges.retrieval.http_service import (
    SERVICES,
    HttpRanker,
    HttpReranker,
    HttpService,
    load_service,
    value_at,
)
from judges.retrieval.ranking import Hit

Result = TypeVar("Result")
QUERY = 'what is "bread" & butter?'
REPLIES: dict[str, object] = {
    "opensearch": {
        "hits": {
            "hits": [
                {"_id": "d1", "_score": 7.5, "_source": {"title": "Baking", "text": "Bread rises."}},
                {"_id": "d2", "_score": 3.25, "_source": {"text": "Butter melts."}},
            ]
        }
    },
    "brave": {
        "web": {
            "results": [
                {"url": "d1", "title": "Baking", "extra_snippets": ["Bread", "rises."], "description": "x"},
                {"url": "d2", "title": "", "description": "Butter melts."},
            ]
        }
    },
    "searxng": {
        "results": [
            {"url": "d1", "title": "Baking", "content": "Bread rises.", "score": 2.0},
            {"url": "d2", "title": None, "content": "Butter melts.", "score": 1.0},
        ]
    },
    "pyserini": {
        "query": {"text": QUERY},
        "candidates": [
            {"docid": "d1", "score": 7.5, "doc": json.dumps({"title": "Baking", "contents": "Bread rises."})},
            {"docid": "d2", "score": 3.25, "doc": {"contents": "Butter melts."}},
        ],
    },
    "colbert": {
        "query": QUERY,
        "topk": [
            {"pid": 1, "rank": 1, "score": 21.5, "text": "Bread rises."},
            {"pid": 2, "rank": 2, "score": 20.0, "text": "Butter melts."},
        ],
    },
    "rerank": {
        "results": [
            {"index": 1, "relevance_score": 0.9},
            {"index": 0, "relevance_score": 0.2},
        ]
    },
}
REPLIES["elasticsearch"] = REPLIES["opensearch"]
ADDRESSES = {
    "opensearch": "/msmarco",
    "elasticsearch": "/msmarco",
    "searxng": "",
    "pyserini": "/v1/msmarco",
    "colbert": "",
    "rerank": "/v1/rerank",
}


class SearchServer(ThreadingHTTPServer):
    """Gives one reply and remembers what it was asked."""

    reply: object = None
    status = 200
    asked: list[tuple[str, dict[str, str], Any]]

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: SearchServer

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: object) -> None:
        self.server.asked.append((self.path, dict(self.headers), body))
        reply = self.server.reply
        content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[SearchServer]:
    """A server on this machine."""
    serving = SearchServer(("127.0.0.1", 0), _Handler)
    serving.asked = []
    thread = Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield serving
    serving.shutdown()
    thread.join()
    serving.server_close()


def variables(name: str, server: SearchServer) -> dict[str, str]:
    """The environment that a bundled file names."""
    upper = name.upper()
    return {
        f"{upper}_URL": server.url + ADDRESSES.get(name, ""),
        f"{upper}_AUTHORIZATION": "Bearer secret",
        "BRAVE_API_KEY": "secret",
        "RERANK_MODEL": "small",
    }


def ask(service: str, server: SearchServer, use: Callable[[HttpService], Awaitable[Result]]) -> Result:
    """Use a bundled service; the public address of Brave is replaced by the server's."""
    spec = load_service(service, variables(service, server))
    public = "https://api.search.brave.com"
    spec = spec.model_copy(update={"url": spec.url.replace(public, server.url)})

    async def run() -> Result:
        async with httpx.AsyncClient() as client:
            return await use(HttpService(spec, client))

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch", "brave", "searxng", "pyserini", "colbert"])
def test_each_bundled_file_reads_its_servers_replies(name: str, server: SearchServer) -> None:
    """Ids, titles, texts, order and scores come out of the shape that the server's documentation shows."""
    server.reply = REPLIES[name]
    hits = ask(name, server, lambda service: HttpRanker(service).rank(QUERY, 5))
    assert not isinstance(hits, CallFailure)
    ids = ["1", "2"] if name == "colbert" else ["d1", "d2"]
    assert [hit.passage.id for hit in hits] == ids
    texts = ["Bread\nrises." if name == "brave" else "Bread rises.", "Butter melts."]
    assert [hit.passage.text for hit in hits] == texts
    assert [hit.passage.title for hit in hits] == ["" if name == "colbert" else "Baking", ""]
    assert hits[0].score > hits[1].score


def test_a_query_reaches_the_server_as_written(server: SearchServer) -> None:
    """Quotes and ampersands are encoded, in addresses as in bodies, and k is a number."""
    server.reply = REPLIES["opensearch"]
    ask("opensearch", server, lambda service: HttpRanker(service).rank(QUERY, 5))
    path, headers, body = server.asked[-1]
    assert path == "/msmarco/_search"
    assert headers["Authorization"] == "Bearer secret"
    assert body["size"] == 5
    assert body["query"]["multi_match"]["query"] == QUERY
    server.reply = REPLIES["colbert"]
    ask("colbert", server, lambda service: HttpRanker(service).rank(QUERY, 500))
    asked = parse_qs(urlsplit(server.asked[-1][0]).query)
    assert asked == {"query": [QUERY], "k": ["100"]}


def test_a_query_cannot_name_a_variable(server: SearchServer) -> None:
    """What a question says is never looked up in the environment."""
    server.reply = REPLIES["opensearch"]
    ask("opensearch", server, lambda service: HttpRanker(service).rank("${OPENSEARCH_AUTHORIZATION}", 5))
    assert server.asked[-1][2]["query"]["multi_match"]["query"] == "${OPENSEARCH_AUTHORIZATION}"


def test_a_reranker_scores_each_passage(server: SearchServer) -> None:
    """Scores come back by number, whatever their order."""
    server.reply = REPLIES["rerank"]
    passages = [Passage("d1", "Bread rises.", "Baking"), Passage("d2", "Butter melts.")]
    scores = ask("rerank", server, lambda service: HttpReranker(service).score(QUERY, passages))
    assert scores == [0.2, 0.9]
    body = server.asked[-1][2]
    assert body == {
        "model": "small",
        "query": QUERY,
        "documents": ["Baking\nBread rises.", "Butter melts."],
        "top_n": 2,
    }


def test_a_reranker_that_leaves_a_passage_out_fails(server: SearchServer) -> None:
    """A missing score is no zero."""
    server.reply = {"results": [{"index": 0, "relevance_score": 0.9}]}
    passages = [Passage("d1", "Bread rises."), Passage("d2", "Butter melts.")]
    failure = ask("rerank", server, lambda service: HttpReranker(service).score(QUERY, passages))
    assert isinstance(failure, CallFailure)
    assert "1 of 2" in failure.detail


@pytest.mark.parametrize(
    ("status", "reply", "why"),
    [
        (503, {}, "HTTP 503"),
        (200, b"<html>", "no JSON"),
        (200, {"hits": {"hits": {}}}, "no list at 'hits.hits'"),
        (200, {"hits": {"hits": [{"_id": "d1", "_source": {"words": "x"}}]}}, "none of its results"),
    ],
)
def test_a_failed_search_is_no_empty_ranking(
    server: SearchServer, status: int, reply: object, why: str
) -> None:
    """A server that fails, or replies in another shape, is a failure with its reason."""
    server.status, server.reply = status, reply
    failure = ask("opensearch", server, lambda service: HttpRanker(service).rank(QUERY, 5))
    assert isinstance(failure, CallFailure)
    assert why in failure.detail
    assert "secret" not in failure.detail


def test_nothing_found_is_an_empty_ranking(server: SearchServer) -> None:
    """An empty list of results is an answer."""
    server.reply = {"hits": {"hits": []}}
    hits: list[Hit] | Any = ask("opensearch", server, lambda service: HttpRanker(service).rank(QUERY, 5))
    assert hits == []


def test_an_unset_variable_is_named() -> None:
    """A file whose address or secret is not set says which variable is missing, without asking anybody."""
    with pytest.raises(SpecError, match="OPENSEARCH_URL"):
        load_service("opensearch", {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('url = "ftp://host"', "no HTTP URL"),
        ('url = "http://host"\nmethods = "GET"', "methods is not known"),
        ('url = "http://host', "cannot be used"),
        ('method = "GET"', "url is missing"),
    ],
)
def test_a_faulty_description_is_refused(tmp_path: Path, text: str, why: str) -> None:
    """Unknown keys and addresses that are none are named."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=why):
        load_service(str(path), {})


def test_an_organisers_file_wins_over_a_bundled_one(tmp_path: Path) -> None:
    """A file of the same name in the home folder is taken, and unknown names list what there is."""
    (tmp_path / "searxng.toml").write_text('url = "http://mine/{query}"', encoding="utf-8")
    assert load_service("searxng", {}, folders=(tmp_path,)).url == "http://mine/{query}"
    assert "brave" in SERVICES.names((tmp_path,))
    with pytest.raises(NotFoundError, match=r"one of: .*pyserini"):
        load_service("none", {}, folders=(tmp_path,))


def test_paths_enter_lists_keys_with_dots_and_json_texts() -> None:
    """A dotted path finds its value, and one that leads nowhere gives nothing."""
    assert value_at({"a": [{"b": 1}]}, "a.0.b") == 1
    assert value_at({"a.b": 2, "a": {"b": 3}}, "a.b") == 2
    assert value_at({"a": '{"b": 4}'}, "a.b") == 4
    assert value_at({"a": "{broken"}, "a.b") is None
    assert value_at({"a": 1}, "a.b.c") is None


@pytest.mark.parametrize(
    ("target", "kept"), [("127.0.0.1", True), ("localhost", False)], ids=["same host", "another host"]
)
def test_a_redirect_to_another_host_gets_no_key(target: str, kept: bool) -> None:
    """A server that leads elsewhere is followed; the headers that were configured stay with its own host."""
    received: list[dict[str, str]] = []

    class Leads(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/first"):
                self.send_response(307)
                self.send_header("Location", f"http://{target}:{leading.server_port}/second")
                self.end_headers()
                return
            received.append(dict(self.headers))
            body = json.dumps(
                {"web": {"results": [{"url": "d1", "title": "T", "description": "x"}]}}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - as above

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Leads) as leading:
        Thread(target=leading.serve_forever, daemon=True).start()
        brave = load_service("brave", {"BRAVE_API_KEY": "TOPSECRET"})
        moved = brave.model_copy(update={"url": f"http://127.0.0.1:{leading.server_port}/first?q={{query}}"})

        async def asked(**changes: object) -> object:
            async with httpx.AsyncClient() as client:
                return await HttpService(moved.model_copy(update=changes), client).ask("bread", 3)

        found = asyncio.run(asked())
        posted = asyncio.run(asked(method="POST", body={"key": "TOPSECRET"}))
        leading.shutdown()
    assert isinstance(found, list)
    assert ("TOPSECRET" in str(received[0])) is kept
    assert isinstance(posted, list) is kept
    assert kept or "sent no body" in str(posted)
