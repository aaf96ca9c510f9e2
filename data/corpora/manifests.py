"""What the files of corpora say of themselves: of the chunks, of their vectors, of the graph over these.

What searches loads arrays; lists do without.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from data.errors import NotFoundError, StoreError
from data.records.questions import require_name

FORMAT = 1
MANIFEST = "manifest.json"
AGAIN = "Import the corpus again."
VECTORS_FOLDER = "dense"
VECTORS_ABOUT = "vectors.json"
GRAPH_ABOUT = "graph.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a corpus was made from; a corpus with another one has to be built anew.

    Attributes:
        name: The corpus.
        content_hash: sha256 of the documents.
        analyser: Name of the analyser.
        words: Words of a chunk at most.
        overlap: Words that neighbouring chunks share.
        documents: How many documents it has.
        chunks: How many chunks.
        format: Of the files.
    """

    name: str
    content_hash: str
    analyser: str
    words: int
    overlap: int
    documents: int = 0
    chunks: int = 0
    format: int = FORMAT

    def same_making(self, other: Manifest) -> bool:
        """Whether two corpora were made alike from the same documents."""
        return _build_key(self) == _build_key(other)


def _build_key(manifest: Manifest) -> tuple[object, ...]:
    return (manifest.content_hash, manifest.analyser, manifest.words, manifest.overlap, manifest.format)


def read_manifest(folder: Path) -> Manifest:
    """Read what a corpus was made from.

    Raises:
        StoreError: There is no corpus in the folder, or its manifest is damaged.
    """
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"There is no readable corpus in {folder.name}: {error}.", advice=AGAIN) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsAbout:
    """What vectors were made from and with; vectors of another making are built anew.

    Attributes:
        model: The endpoint's name of the model, or the path of a local one.
        endpoint: Base URL; empty for a local model.
        fingerprint: Of a local model's files; empty for an endpoint's.
        content_hash: Of the corpus.
        words: Words of a chunk at most.
        overlap: Words that neighbouring chunks share.
        chunks: How many there are.
        dimensions: Of a vector; 0 before any is known.
    """

    model: str
    endpoint: str
    fingerprint: str
    content_hash: str
    words: int
    overlap: int
    chunks: int
    dimensions: int = 0

    @classmethod
    def of(cls, manifest: Manifest, *, model: str, endpoint: str, fingerprint: str) -> VectorsAbout:
        """What vectors of a corpus by a model would say."""
        return cls(
            model=model,
            endpoint=endpoint,
            fingerprint=fingerprint,
            content_hash=manifest.content_hash,
            words=manifest.words,
            overlap=manifest.overlap,
            chunks=manifest.chunks,
        )

    def same_making(self, other: VectorsAbout) -> bool:
        """Whether two were made alike."""
        return replace(self, dimensions=0) == replace(other, dimensions=0)

    def same_texts(self, other: VectorsAbout) -> bool:
        """Whether two are of the same chunks, whatever the model."""
        return self.same_making(
            replace(other, model=self.model, endpoint=self.endpoint, fingerprint=self.fingerprint)
        )


def read_about(corpus_folder: Path) -> VectorsAbout | None:
    """What the vectors beside a corpus say of themselves; None where there are none that can be read."""
    about = corpus_folder / VECTORS_FOLDER / VECTORS_ABOUT
    try:
        return VectorsAbout(**json.loads(about.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAbout:
    """What a graph finds of what exact search finds.

    Attributes:
        recall: Share of the `k` nearest chunks that the graph finds, 0–1; the mean over `queries` chunks of
            the corpus in the place of queries, themselves left out. Queries unlike any chunk may fare worse.
        k: Nearest chunks asked for.
        queries: How many chunks were looked up.
        chunks: How many the graph has.
    """

    recall: float
    k: int
    queries: int
    chunks: int


def read_graph_about(folder: Path) -> GraphAbout | None:
    """What the graph in a folder of vectors says of itself; None where there is none that can be read."""
    try:
        return GraphAbout(**json.loads((folder / GRAPH_ABOUT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


class CorpusFolders:
    """Says which corpora there are, and what they and their vectors were made from, without opening any.

    Args:
        folder: Where they are kept, each in a folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list(self) -> tuple[Manifest, ...]:
        """The corpora, by name."""
        if not self._folder.is_dir():
            return ()
        names = sorted(path.name for path in self._folder.iterdir() if (path / MANIFEST).is_file())
        manifests = (self._manifest(name) for name in names if not name.startswith("."))
        return tuple(manifest for manifest in manifests if manifest is not None)

    def folder_of(self, name: str) -> Path:
        """The folder of a corpus, in which its vectors are kept too.

        Raises:
            NotFoundError: There is no corpus of the name.
        """
        folder = self._folder / require_name(name, "Corpus name")
        if not (folder / MANIFEST).is_file():
            names = ", ".join(manifest.name for manifest in self.list()) or "none"
            raise NotFoundError(f"There is no corpus {name!r}.", advice=f"Import it; known are: {names}.")
        return folder

    def _manifest(self, name: str) -> Manifest | None:
        """The manifest of a corpus, None where there is none that can be read."""
        try:
            return read_manifest(self._folder / name)
        except StoreError:
            return None

    def vectors(self, name: str) -> VectorsAbout | None:
        """What the vectors of a corpus were made with; None where it has none.

        Raises:
            NotFoundError: There is no such corpus.
        """
        return read_about(self.folder_of(name))

    def graph(self, name: str) -> GraphAbout | None:
        """What the approximate index of a corpus's vectors finds; None where it has none.

        Raises:
            NotFoundError: There is no such corpus.
        """
        return read_graph_about(self.folder_of(name) / VECTORS_FOLDER)
