"""What turns texts into vectors, and dense retrieval: embed a corpus once, then each query.

Embeddings from a static model on disk: small, without a network or a GPU.

Needs the extra `embeddings` (model2vec, MIT). Its models are a table of token vectors that are averaged.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from data.corpora.dense import Vectors, VectorWriter, unit_rows
from data.corpora.index import Corpus
from data.corpora.manifests import VectorsAbout, read_about
from data.errors import BudgetError, EndpointError, SpecError
from data.progress import working
from data.records import Outcome, Passage
from judges.llm.requests import CallFailure


class Embedder(Protocol):
    """Turns texts into vectors whose inner product is their similarity."""

    @property
    def model(self) -> str:
        """The endpoint's name of the model, or the path of a local one."""
        ...

    @property
    def endpoint(self) -> str:
        """Base URL; empty for a local model."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of a local model's files; empty for an endpoint's."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors | CallFailure:
        """Embed texts: one row each, of unit length; or why there are none.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


AT_ONCE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What embedding a corpus did; `built` is False where its vectors were there already."""

    about: VectorsAbout
    built: bool


async def embed_corpus(corpus: Corpus, folder: Path, embedder: Embedder) -> Embedded:
    """Embed the chunks of a corpus, unless its vectors are of the same content and model.

    Cut off, the same call goes on: texts that were embedded by an endpoint are in the cache.

    Args:
        corpus: Gives the chunks.
        folder: The corpus's own.
        embedder: Embeds.

    Raises:
        EndpointError: A text could not be embedded.
        BudgetError: The budget's cap is reached.
        StoreError: The vectors cannot be written.
    """
    about = VectorsAbout.of(
        corpus.manifest, model=embedder.model, endpoint=embedder.endpoint, fingerprint=embedder.fingerprint
    )
    old = read_about(folder)
    if old is not None and old.same_making(about):
        return Embedded(about=old, built=False)
    with VectorWriter(folder, about) as writer, working("embedding chunks", len(corpus)) as work:
        for first in range(0, len(corpus), AT_ONCE):
            places = range(first, min(first + AT_ONCE, len(corpus)))
            vectors = await embedder.embed([_text(corpus.chunk(place)) for place in places])
            if isinstance(vectors, CallFailure):
                message = f"Embedding stopped after {first:,} of {len(corpus):,} chunks: {vectors.detail}"
                kind = BudgetError if vectors.outcome is Outcome.SKIPPED else EndpointError
                raise kind(message, advice="Run it again to go on: what was embedded is kept.")
            writer.add(vectors)
            work.done = places.stop
        return Embedded(about=writer.finish(), built=True)


def _text(chunk: Passage) -> str:
    return f"{chunk.title}\n{chunk.text}".strip()


EXTRA = "Install it: `pip install answer-arena[embeddings]`."
READ_AT_ONCE = 1 << 20


class LocalEmbedder:
    """Embeds with a model2vec model.

    Args:
        folder: The model's folder, as model2vec saves it.

    Raises:
        SpecError: The extra is not installed, or there is no such model in the folder.
    """

    endpoint = ""

    def __init__(self, folder: Path) -> None:
        try:
            from model2vec import StaticModel  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = f"The model in {folder} needs the library model2vec, which is not installed."
            raise SpecError(message, advice=EXTRA) from error
        try:
            self._model = StaticModel.from_pretrained(folder)
        except (OSError, ValueError, KeyError) as error:
            message = f"There is no model2vec model in {folder}: {error}."
            raise SpecError(message, advice="Give the folder of a saved model.") from error
        self.model = str(folder.resolve())
        self.fingerprint = _hash_of(folder)

    async def embed(self, texts: Sequence[str]) -> Vectors | CallFailure:
        """Embed texts, in a thread."""
        rows = await asyncio.to_thread(self._model.encode, list(texts), use_multiprocessing=False)
        return unit_rows(np.asarray(rows, dtype=np.float32).reshape(len(texts), -1))


def _hash_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        digest.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as file:
            while piece := file.read(READ_AT_ONCE):
                digest.update(piece)
    return digest.hexdigest()
