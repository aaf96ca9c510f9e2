"""Embeddings from a static model on disk: small, without a network or a GPU.

Needs the extra `embeddings` (model2vec, MIT). Its models are a table of token vectors that are averaged.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from data.corpora.dense import Vectors, unit_rows
from data.errors import SpecError
from judges.llm.requests import Unanswered

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

    async def embed(self, texts: Sequence[str]) -> Vectors | Unanswered:
        """Embed texts, in a thread."""
        found = await asyncio.to_thread(self._model.encode, list(texts), use_multiprocessing=False)
        return unit_rows(np.asarray(found, dtype=np.float32).reshape(len(texts), -1))


def _hash_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.iterdir() if each.is_file()):
        digest.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as file:
            while piece := file.read(READ_AT_ONCE):
                digest.update(piece)
    return digest.hexdigest()
