"""Corpora on disk: chunks with a BM25 index of bm25s."""

import json
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from data.corpora.documents import Analyser, Chunking, chunk_id, content_hash, document_of, read_documents
from data.errors import FileFormatError, NotFoundError, StoreError
from data.models import Passage, ProblemList
from data.models.questions import require_name
from data.progress import counted, working

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.5
B = 0.75
FORMAT = 2
MANIFEST = "manifest.json"
BM25 = "bm25"
AGAIN = "Import the corpus again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Parameters of a corpus, which is rebuilt if they change; `words` and `overlap` are those of chunks."""

    name: str
    content_hash: str
    analyser: str
    words: int
    overlap: int
    documents: int = 0
    chunks: int = 0
    format: int = FORMAT

    def same_making(self, other: "Manifest") -> bool:
        """Return whether two corpora have the same documents and parameters."""
        return replace(self, name="", documents=0, chunks=0) == replace(other, name="", documents=0, chunks=0)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a corpus.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"There is no readable corpus in {folder.name}: {error}.", advice=AGAIN) from error


def build_corpus(
    folder: Path, documents: Iterable[Passage], manifest: Manifest, analyser: Analyser
) -> Manifest:
    """Write a corpus into an empty folder and return the manifest with its counts."""
    chunking = Chunking(words=manifest.words, overlap=manifest.overlap)
    vocabulary: dict[str, int] = {}
    by_word: dict[str, tuple[int, ...]] = {}
    chunks: list[dict[str, str]] = []
    ids: list[list[int]] = []
    count = 0
    for document in counted(documents, "indexing documents"):
        count += 1
        for number, text in enumerate(chunking.cut(document.text), start=1):
            name = chunk_id(document.id, number)
            chunks.append({"id": _stored(name), "title": _stored(document.title), "text": _stored(text)})
            terms: list[int] = []
            for word in analyser.words(f"{document.title} {text}"):
                if word not in by_word:
                    own = analyser.of_word(word)
                    by_word[word] = tuple(vocabulary.setdefault(term, len(vocabulary)) for term in own)
                terms += by_word[word]
            ids.append(terms)
    if not vocabulary:
        message = f"The corpus {manifest.name} has no words in its {count} documents."
        raise FileFormatError(message, advice="Import documents with text.", code="empty-file")
    import bm25s  # noqa: PLC0415 - listing corpora needs no index

    index = bm25s.BM25(k1=K1, b=B)
    with working("writing the index"):
        index.index((ids, vocabulary), show_progress=False)
        index.save(folder / BM25, corpus=chunks, show_progress=False)
    completed = replace(manifest, documents=count, chunks=len(chunks))
    (folder / MANIFEST).write_text(json.dumps(asdict(completed), indent=1), encoding="utf-8")
    return completed


def _stored(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


class Corpus:
    """Corpus with BM25 search; its files are memory-mapped."""

    def __init__(self, folder: Path, analyser: Analyser) -> None:
        self.manifest = read_manifest(folder)
        name = self.manifest.name
        if (self.manifest.analyser, self.manifest.format) != (analyser.name, FORMAT):
            raise StoreError(f"The corpus {name} was built with another analyser or format.", advice=AGAIN)
        self._analyser = analyser
        try:
            import bm25s  # noqa: PLC0415 - as above

            self._index = bm25s.BM25.load(folder / BM25, mmap=True, load_corpus=True, show_progress=False)
            self.chunk(self.manifest.chunks - 1)
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise StoreError(f"The corpus {name} cannot be read: {error}.", advice=AGAIN) from error
        if not len(self._index.corpus) == self._index.scores["num_docs"] == self.manifest.chunks:
            raise StoreError(f"The files of the corpus {name} are incomplete.", advice=AGAIN)

    def __len__(self) -> int:
        return self.manifest.chunks

    def chunk(self, place: int) -> Passage:
        """Return a chunk by its position."""
        row = self._index.corpus[place]
        return Passage(row["id"], row["text"], row["title"])

    def named(self, ids: Collection[str]) -> dict[str, Passage]:
        """Return the chunks and the joined documents with the given ids; unknown ids are skipped."""
        names, chunks = set(ids), {}
        documents: dict[str, list[Passage]] = {}
        for place in range(len(self)):
            chunk = self.chunk(place)
            if chunk.id in names:
                chunks[chunk.id] = chunk
            if (document := document_of(chunk.id)) in names:
                documents.setdefault(document, []).append(chunk)
        cut = Chunking(words=self.manifest.words, overlap=self.manifest.overlap)
        whole = {
            name: Passage(name, cut.joined([part.text for part in parts]), parts[0].title)
            for name, parts in documents.items()
        }
        return {**whole, **chunks}

    def search(self, query: str, k: int) -> list[tuple[Passage, float]]:
        """Return at most `k` chunks that share a term with a query, with scores, best first."""
        terms = self._index.get_tokens_ids(self._analyser.terms(query))
        if not terms or k < 1:
            return []
        scores: NDArray[np.float32] = self._index.get_scores_from_ids(terms)
        return [(self.chunk(int(place)), float(scores[place])) for place in best_places(scores, k)]


def best_places(scores: "NDArray[np.float32]", k: int) -> "NDArray[np.intp]":
    """Return the indices of the k highest scores above 0, best first, ties in order."""
    import numpy as np  # noqa: PLC0415 - as above

    least = np.partition(scores, -k)[-k] if k < len(scores) else np.float32(0)
    candidates = np.flatnonzero((scores >= least) & (scores > 0))
    best: NDArray[np.intp] = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return best


BUILDING = ".building-"
REPLACED = ".replaced-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Result of an import; `built` is False if the same corpus existed already."""

    manifest: Manifest
    built: bool


class CorpusLibrary:
    """Library of the corpora in a folder, which is created on first use."""

    def __init__(self, folder: Path, analyser: Analyser) -> None:
        self._folder = folder
        self._analyser = analyser

    def list(self) -> tuple[Manifest, ...]:
        """Return the corpora by name."""
        if not self._folder.is_dir():
            return ()
        names = sorted(path.name for path in self._folder.iterdir() if (path / MANIFEST).is_file())
        manifests = (self._manifest(name) for name in names if not name.startswith("."))
        return tuple(manifest for manifest in manifests if manifest is not None)

    def _manifest(self, name: str) -> Manifest | None:
        try:
            return read_manifest(self._folder / name)
        except StoreError:
            return None

    def add(self, name: str, source: Path, chunking: Chunking | None = None) -> Imported:
        """Import documents (see `read_documents`) under a name.

        A corpus is replaced only if documents, chunking or analyser differ, and only with a complete one.
        """
        require_name(name, "Corpus name")
        cut = chunking or Chunking()
        with working(f"reading {source.name}"):
            digest = content_hash(source)
        planned = Manifest(
            name=name, content_hash=digest, analyser=self._analyser.name, words=cut.words, overlap=cut.overlap
        )
        old = self._manifest(name)
        if old is not None and old.same_making(planned):
            return Imported(manifest=old, built=False)
        with self._build_folder() as place:
            problems = ProblemList()
            documents = _distinct(read_documents(source, problems), problems)
            try:
                manifest = build_corpus(place, documents, planned, self._analyser)
            except FileFormatError:
                # The problems of the documents explain more than an empty corpus.
                problems.require_none(str(source), "Correct them and import it again.")
                raise
            problems.require_none(str(source), "Correct them and import it again.")
            self._replace(name, place)
        return Imported(manifest=manifest, built=True)

    def open(self, name: str) -> Corpus:
        """Open a corpus.

        Raises:
            NotFoundError: There is no corpus of that name.
        """
        folder = self._folder / require_name(name, "Corpus name")
        if not (folder / MANIFEST).is_file():
            names = ", ".join(manifest.name for manifest in self.list()) or "none"
            raise NotFoundError(f"There is no corpus {name!r}.", advice=f"Import it, or use one of: {names}.")
        return Corpus(folder, self._analyser)

    @contextmanager
    def _build_folder(self) -> Iterator[Path]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            place = Path(mkdtemp(prefix=BUILDING, dir=self._folder))
        except OSError as error:
            message = f"No corpus can be written to {self._folder}: {error.strerror or error}."
            raise StoreError(message, advice="Free some space, or change ARENA_HOME.") from error
        try:
            yield place
        except OSError as error:
            message = f"The corpus could not be written: {error.strerror or error}."
            raise StoreError(message, advice="Free some space and import it again.") from error
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _replace(self, name: str, built: Path) -> None:
        """Replace an older corpus; its readers keep the old files."""
        target = self._folder / name
        if target.exists():
            old = Path(mkdtemp(prefix=REPLACED, dir=self._folder))
            target.replace(old / name)
            built.replace(target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            built.replace(target)


def _distinct(documents: Iterator[Passage], problems: ProblemList) -> Iterator[Passage]:
    keys: set[int] = set()
    for number, document in enumerate(documents, start=1):
        key = hash(document.id)
        if key in keys:
            problems.add(number, "duplicate-id", f"Two documents have the id {document.id!r}.")
            continue
        keys.add(key)
        yield document
