"""Search servers and rerankers over HTTP, each described by a TOML file.

A request is built from a URL, headers and a JSON body in which `{query}`, `{k}` and `{passages}` stand for
values; a reply is read by dotted paths. `${NAME}` is a variable of the environment, so that no secret
stands in a file. docs/retrievers.md describes every key and the servers that files come with.
"""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.jsonl import in_words
from data.records import Outcome, Passage
from judges.llm.requests import CallFailure
from judges.retrieval.descriptions import ADVICE, Shelf, stem_of
from judges.retrieval.ranking import Hit

if TYPE_CHECKING:
    import httpx

SERVICES = Shelf("search service", "services")
MOST_BYTES = 20_000_000
REDIRECTS = 5
Paths = str | tuple[str, ...]


class HttpServiceSpec(BaseModel):
    """How to ask a server and where its reply holds what.

    Attributes:
        name: Of the service; the file's name where the file gives none.
        url: The address; `{query}` and `{k}` are filled in percent-encoded.
        method: `GET` or `POST`.
        headers: Sent with each request; `${NAME}` is a variable of the environment.
        body: JSON of a POST; a string that is exactly `"{k}"` becomes a number, `"{passages}"` the list of
            texts to rerank.
        results: Dotted path to the list of results; empty where the reply itself is the list.
        id: Path, or several to be tried in turn, to a result's id within the result.
        text: The same of its text.
        title: The same of its title; may lead nowhere.
        score: The same of its score; where it leads nowhere, places count.
        index: Of a reranker alone: path to the number, from 0, of the passage that a result is about.
        most: Most results that may be asked for at once.
        seconds: Longest wait for one reply.
        at_once: Most requests in flight.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    url: str
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = Field(default_factory=dict)
    body: Mapping[str, Any] = Field(default_factory=dict)
    results: str = ""
    id: Paths = "id"
    text: Paths = "text"
    title: Paths = "title"
    score: Paths = "score"
    index: str = ""
    most: Annotated[int, Field(ge=1)] = 1000
    seconds: Annotated[float, Field(gt=0)] = 20.0
    at_once: Annotated[int, Field(ge=1)] = 4


def load_service(name: str, variables: Mapping[str, str], *, folders: Sequence[Path] = ()) -> HttpServiceSpec:
    """Read a service by the path of a TOML file, or by its name in `folders` or among the bundled ones.

    Args:
        name: A path (it ends in `.toml`), or the name of a file in `folders` or of a bundled one.
        variables: The environment, which `${NAME}` is taken from.
        folders: Where to look before the bundled ones.

    Raises:
        NotFoundError: No service bears the name.
        SpecError: The file cannot be used, or names a variable that is not set.
    """
    stem = stem_of(name)
    try:
        values = {"name": stem, **tomllib.loads(SERVICES.text(name, folders))}
        spec = HttpServiceSpec.model_validate(SERVICES.filled(values, variables, stem))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        problems = "; ".join(in_words(error)) if isinstance(error, ValidationError) else str(error)
        raise SpecError(f"The search service {stem} cannot be used: {problems}.", advice=ADVICE) from error
    if urlsplit(spec.url).scheme not in {"http", "https"}:
        raise SpecError(f"The URL of the search service {stem} is no HTTP URL.", advice=ADVICE)
    return spec


def _is_of_one_site(before: httpx.URL, after: httpx.URL) -> bool:
    """Whether a redirect stays with scheme, host and port, or leads to the same host by TLS."""
    upgraded = (before.scheme, after.scheme, before.port, after.port) == ("http", "https", None, None)
    same = (before.scheme, before.port) == (after.scheme, after.port)
    return before.host == after.host and (same or upgraded)


async def _beginning(response: httpx.Response) -> bytes:
    """What a server sends, of which more than `MOST_BYTES` is not read."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > MOST_BYTES:
            break
    return bytes(content)


class HttpService:
    """Asks a server; a failure is returned with its reason, never taken for an empty result.

    Args:
        spec: The server.
        client: Carries the calls; closed by whoever made it.
    """

    def __init__(self, spec: HttpServiceSpec, client: httpx.AsyncClient) -> None:
        self.spec = spec
        self._client = client
        self._places = asyncio.Semaphore(spec.at_once)

    async def ask(
        self, query: str, k: int, passages: Sequence[str] = ()
    ) -> list[Mapping[str, Any]] | CallFailure:
        """The results of a reply, as they are."""
        import httpx  # noqa: PLC0415 - loads only when a server is asked

        url = self.spec.url.replace("{query}", quote(query, safe="")).replace("{k}", str(k))
        body = _with_values(self.spec.body, query, k, passages) if self.spec.method == "POST" else None
        try:
            async with self._places, asyncio.timeout(self.spec.seconds):
                status, content = await self._send(url, body)
        except TimeoutError:
            return self._failed(f"no reply within {self.spec.seconds:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self._failed(f"{type(error).__name__}: {error}")
        if status != httpx.codes.OK:
            return self._failed(f"HTTP {status}")
        if len(content) > MOST_BYTES:
            return self._failed(f"more than {MOST_BYTES:,} bytes")
        return self._results(content)

    async def _send(self, url: str, body: object) -> tuple[int, bytes]:
        """The answer behind any redirects; to another host neither configured headers nor a body go."""
        import httpx  # noqa: PLC0415 - as above

        asked = self._client.build_request(self.spec.method, url, json=body, headers=self.spec.headers)
        for _ in range(REDIRECTS):
            response = await self._client.send(asked, stream=True, follow_redirects=False)
            try:
                following = response.next_request
                if following is None:
                    return response.status_code, await _beginning(response)
            finally:
                await response.aclose()
            if not _is_of_one_site(asked.url, following.url):
                if following.method != "GET":
                    raise httpx.TooManyRedirects("it leads to another host, which is sent no body")
                for name in self.spec.headers:
                    following.headers.pop(name, None)
            asked = following
        raise httpx.TooManyRedirects(f"more than {REDIRECTS} redirects")

    def _results(self, content: bytes) -> list[Mapping[str, Any]] | CallFailure:
        try:
            reply = json.loads(content)
        except ValueError:
            return self._failed("its reply is no JSON")
        results = value_at(reply, self.spec.results) if self.spec.results else reply
        if not isinstance(results, list):
            return self._failed(f"its reply has no list at {self.spec.results or 'the top'!r}")
        return [result for result in results if isinstance(result, Mapping)]

    def _failed(self, why: str) -> CallFailure:
        detail = f"The search service {self.spec.name} failed: {why}."
        return CallFailure(outcome=Outcome.FAILED, detail=detail)


class HttpRanker:
    """Ranks what a search server finds."""

    def __init__(self, service: HttpService) -> None:
        self._service = service

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank; results without an id or a text are an error of the description, not an empty ranking."""
        spec = self._service.spec
        results = await self._service.ask(query, min(k, spec.most))
        if isinstance(results, CallFailure):
            return results
        hits = [
            hit for place, result in enumerate(results, 1) if (hit := _hit(spec, result, place)) is not None
        ]
        if results and not hits:
            why = f"none of its results has an id at {spec.id!r} and a text at {spec.text!r}"
            return CallFailure(
                outcome=Outcome.FAILED, detail=f"The search service {spec.name} failed: {why}."
            )
        return sorted(hits, key=lambda hit: -hit.score)[:k]


def _hit(spec: HttpServiceSpec, result: Mapping[str, Any], place: int) -> Hit | None:
    name, text = _first(result, spec.id), _first(result, spec.text)
    if not isinstance(name, str | int) or not isinstance(text, str) or not text.strip():
        return None
    title, score = _first(result, spec.title), _first(result, spec.score)
    if isinstance(score, bool) or not isinstance(score, int | float):
        score = 1 / place
    return Hit(Passage(str(name), text, title if isinstance(title, str) else ""), float(score))


def _first(result: Mapping[str, Any], paths: Paths) -> object:
    for path in (paths,) if isinstance(paths, str) else paths:
        value = value_at(result, path)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = "\n".join(value)
        if value is not None:
            return value
    return None


def value_at(value: object, path: str) -> object:
    """What a dotted path leads to; None where it leads nowhere. Text that is JSON is entered like an object.

    The whole path as one key comes first, so that keys with dots can be named.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, Mapping):
        if path in value:
            return value[path]
        head, dot, rest = path.partition(".")
        return value_at(value[head], rest) if dot and head in value else None
    if isinstance(value, list):
        head, dot, rest = path.partition(".")
        if head.isdecimal() and int(head) < len(value):
            return value_at(value[int(head)], rest) if dot else value[int(head)]
    return None


def _with_values(template: object, query: str, k: int, passages: Sequence[str]) -> object:
    if isinstance(template, Mapping):
        return {key: _with_values(value, query, k, passages) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [_with_values(value, query, k, passages) for value in template]
    if template == "{k}":
        return k
    if template == "{passages}":
        return list(passages)
    return template.replace("{query}", query) if isinstance(template, str) else template


class HttpReranker:
    """Asks a server for the scores of passages."""

    def __init__(self, service: HttpService) -> None:
        self._service = service

    async def score(self, query: str, passages: Sequence[Passage]) -> Sequence[float] | CallFailure:
        """Score; a reply that leaves a passage out is a failure."""
        spec = self._service.spec
        texts = [f"{passage.title}\n{passage.text}".strip() for passage in passages]
        results = await self._service.ask(query, len(texts), texts)
        if isinstance(results, CallFailure):
            return results
        paths = (spec.score,) if isinstance(spec.score, str) else spec.score
        scores: dict[int, float] = {}
        for result in results:
            place = value_at(result, spec.index)
            score = next((found for path in paths if (found := value_at(result, path)) is not None), None)
            if isinstance(place, int) and isinstance(score, int | float):
                scores[place] = float(score)
        if set(scores) != set(range(len(texts))):
            why = f"it scored {len(scores)} of {len(texts)} passages"
            detail = f"The search service {spec.name} failed: {why}."
            return CallFailure(outcome=Outcome.FAILED, detail=detail)
        return [scores[place] for place in range(len(texts))]
