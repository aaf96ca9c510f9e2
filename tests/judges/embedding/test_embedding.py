"""Embeddings from an endpoint over HTTP and from a local model, and dense retrieval with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from data.corpora.dense import VectorIndex, Vectors
from data.corpora.library import CorpusLibrary
from data.errors import BudgetError, EndpointError, ReplayMissError, SpecError
from data.records import Outcome
from judges.embedding.base import LocalEmbedder, embed_corpus
from judges.embedding.endpoint import AT_ONCE, EmbeddingTransport, EndpointEmbedder, embedding_access
from judges.llm.costs import MemoryLedger, Usage
from judges.llm.factory import open_client
from judges.llm.requests import CallFailure
from judges.llm.settings import AccessSettings, CacheMode
from judges.metrics.coverage.sources import TERMS
from judges.retrieval.ranking import RankedSource, VectorRanker
from tests.memory_replies import MemoryReplyCache

T = TypeVar("T")
PRICED = "text-embedding-3-small"


class Endpoint:
    """Embeds at a scripted endpoint, with a cache that lasts."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cache = MemoryReplyCache()
        self.usage = Usage()

    def use(
        self,
        work: Callable[[EndpointEmbedder], Awaitable[T]],
        *,
        model: str = "m",
        budget: float | None = None,
        **settings: Any,  # noqa: ANN401 - access settings of any type
    ) -> T:
        """Do something with an embedder."""
        access = embedding_access(AccessSettings(backoff=0.01, **settings))
        ledger = None if budget is None else MemoryLedger(budget)

        async def run() -> T:
            transport = EmbeddingTransport(access)
            async with open_client(access, self.cache, ledger, transport=transport) as client:
                self.usage = client.usage
                return await work(EndpointEmbedder(client, endpoint=self.url, model=model))

        return asyncio.run(run())

    def embed(self, texts: Sequence[str], **more: Any) -> Vectors | CallFailure:  # noqa: ANN401 - as above
        """Embed texts."""
        return self.use(lambda embedder: embedder.embed(texts), **more)


def test_texts_are_embedded_together_and_never_twice(scripted_llm: Callable[..., Any]) -> None:
    """Known vectors come back at unit length; texts travel in batches, are counted, and kept by their key."""
    server = scripted_llm()
    server.handlers["embeddings"] = lambda text: [float(text), 4.0]
    endpoint = Endpoint(server.url)
    texts = [str(number) for number in range(150)]
    found = endpoint.embed(texts)
    assert isinstance(found, np.ndarray)
    assert found[3] == pytest.approx([0.6, 0.8], abs=1e-3)
    assert found.shape == (150, 2)
    assert len(server.log.bodies) <= 150 / AT_ONCE + 2
    assert max(len(body["input"]) for body in server.log.bodies) <= AT_ONCE
    assert (endpoint.usage.calls, endpoint.usage.input_tokens) == (150, 150)
    again = endpoint.embed([*texts[:10], "150"])
    assert isinstance(again, np.ndarray)
    assert np.array_equal(again[:10], found[:10])
    assert server.log.started["3"] == 1
    assert (endpoint.usage.cached, endpoint.usage.calls) == (10, 1)
    endpoint.embed(["3"], model="another")
    assert server.log.started["3"] == 2


def test_a_text_that_is_refused_costs_no_other_its_vector(scripted_llm: Callable[..., Any]) -> None:
    """Where an endpoint rejects a batch for one of its texts, the others are embedded all the same."""
    server = scripted_llm()
    server.handlers["embeddings"] = lambda text: None if text == "long" else [1.0, float(len(text))]
    endpoint = Endpoint(server.url)
    found = endpoint.embed(["a", "long", "bb", "ccc"])
    assert isinstance(found, CallFailure)
    assert "too long" in found.detail
    assert isinstance(endpoint.embed(["a", "bb", "ccc"], cache_mode=CacheMode.REPLAY), np.ndarray)


@pytest.mark.parametrize("vectors", [[1.0, float("nan")], [], ["x"], "no vector"])
def test_vectors_that_cannot_be_read_are_failures(scripted_llm: Callable[..., Any], vectors: object) -> None:
    """What is no finite vector is tried again, then failed with its reason: never a vector of zeros."""
    server = scripted_llm()
    server.handlers["embeddings"] = lambda _: vectors
    found = Endpoint(server.url).embed(["a"], attempts=2)
    assert isinstance(found, CallFailure)
    assert found.outcome is Outcome.FAILED
    assert found.calls == 2


def test_faults_are_tried_again(scripted_llm: Callable[..., Any]) -> None:
    """A busy endpoint, then an error, then vectors."""
    server = scripted_llm(first=["rate_limit", "server_error"])
    assert isinstance(Endpoint(server.url).embed(["a b", "c"]), np.ndarray)


@pytest.mark.usefixtures("public_endpoints")
def test_embeddings_stay_within_the_budget(scripted_llm: Callable[..., Any]) -> None:
    """Nothing is asked beyond the cap; a model without a price has none; a replay asks nothing."""
    server = scripted_llm()
    endpoint = Endpoint(server.url)
    found = endpoint.embed(["a"], model=PRICED, budget=0.0)
    assert isinstance(found, CallFailure)
    assert (found.outcome, server.log.calls) == (Outcome.SKIPPED, 0)
    assert isinstance(endpoint.embed(["a b c"], model=PRICED, budget=1.0), np.ndarray)
    assert endpoint.usage.cost_usd > 0
    with pytest.raises(BudgetError, match="no price is known"):
        endpoint.embed(["b"], budget=1.0)
    with pytest.raises(ReplayMissError):
        endpoint.embed(["never asked"], cache_mode=CacheMode.REPLAY)


@pytest.fixture
def library(tmp_path: Path) -> CorpusLibrary:
    """A library with a corpus of 600 short texts."""
    path = tmp_path / "documents.jsonl"
    rows = [{"id": f"d{number}", "text": f"Fact {number} is of topic t{number}."} for number in range(600)]
    path.write_text("\n".join(map(json.dumps, rows)))
    made = CorpusLibrary(tmp_path / "corpora", TERMS)
    made.add("facts", path)
    return made


def test_a_corpus_is_embedded_once_and_searched(
    library: CorpusLibrary, scripted_llm: Callable[..., Any]
) -> None:
    """The nearest chunk is the one that says it; the same model builds nothing again, another one does."""
    server = scripted_llm()
    endpoint = Endpoint(server.url)
    corpus, folder = library.open("facts"), library.folder_of("facts")

    async def work(embedder: EndpointEmbedder) -> Any:  # noqa: ANN401 - several values
        made = await embed_corpus(corpus, folder, embedder)
        source = RankedSource(VectorRanker(VectorIndex(corpus, folder), embedder))
        return made, await source.find("Fact 77 is of topic t77.", 3)

    made, found = endpoint.use(work)
    assert made.built
    assert (made.about.chunks, made.about.endpoint) == (600, server.url)
    assert [found[0].text, len(found)] == ["Fact 77 is of topic t77.", 3]
    assert not endpoint.use(work)[0].built
    assert server.log.calls == 600
    assert endpoint.use(work, model="other")[0].built


def test_embedding_that_was_cut_off_goes_on(library: CorpusLibrary, scripted_llm: Callable[..., Any]) -> None:
    """A failure ends it with the reason and leaves no half-made vectors; going on asks for the rest alone."""
    server = scripted_llm()
    broken = True

    def embed(text: str) -> list[float] | None:
        return None if broken and "t550." in text else [1.0, float(len(text))]

    server.handlers["embeddings"] = embed
    endpoint = Endpoint(server.url)
    corpus, folder = library.open("facts"), library.folder_of("facts")

    async def work(embedder: EndpointEmbedder) -> Any:  # noqa: ANN401 - of any type
        return await embed_corpus(corpus, folder, embedder)

    with pytest.raises(EndpointError, match=r"after 512 of 600 chunks.*too long"):
        endpoint.use(work)
    assert not (folder / "dense").exists()
    broken = False
    assert endpoint.use(work).built
    assert server.log.asked_twice == {}


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """A model2vec model of five words, saved to disk."""
    model2vec = pytest.importorskip("model2vec", reason="NO MODEL2VEC: local embeddings are not tested")
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"[UNK]": 0, "cat": 1, "kitten": 2, "car": 3, "engine": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.array([[0, 0.1], [1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], dtype=np.float32)
    folder = tmp_path / "model"
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(folder)
    return folder


def test_a_local_model_embeds_without_a_network(model_folder: Path) -> None:
    """Texts of like meaning are near each other; the model's files are its fingerprint."""
    embedder = LocalEmbedder(model_folder)
    found = asyncio.run(embedder.embed(["cat", "kitten", "engine car"]))
    assert isinstance(found, np.ndarray)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 1], abs=1e-3)
    assert found[0] @ found[1] > 0.9
    assert found[0] @ found[2] < 0.3
    assert LocalEmbedder(model_folder).fingerprint == embedder.fingerprint
    (model_folder / "more.txt").write_text("changed")
    assert LocalEmbedder(model_folder).fingerprint != embedder.fingerprint


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    """A folder that holds no model is said in a sentence."""
    pytest.importorskip("model2vec", reason="NO MODEL2VEC: local embeddings are not tested")
    with pytest.raises(SpecError, match="no model2vec model"):
        LocalEmbedder(tmp_path)
