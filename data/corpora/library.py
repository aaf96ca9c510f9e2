"""The corpora of an installation, each in a folder of its own, replaced as a whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from data.corpora.chunking import Analyser, Chunking
from data.corpora.documents import content_hash, read_documents
from data.corpora.index import MANIFEST, Corpus, Manifest, build_corpus, read_manifest
from data.errors import FileFormatError, InvalidFileError, NotFoundError, StoreError
from data.models import Passage, ProblemList
from data.models.questions import require_name
from data.progress import working

BUILDING = ".building-"
REPLACED = ".replaced-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Result of an import; `built` is False where the same corpus was there already."""

    manifest: Manifest
    built: bool


class CorpusLibrary:
    """Imports, lists and opens the corpora in a folder, which is made when first needed."""

    def __init__(self, folder: Path, analyser: Analyser) -> None:
        self._folder = folder
        self._analyser = analyser

    def list(self) -> tuple[Manifest, ...]:
        """The corpora, by name."""
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

        A corpus of that name is replaced when the new one is complete, and only where the documents, the
        chunking or the analyser differ.

        Raises:
            InvalidFileError: Documents have problems; all of them are listed, and nothing is changed.
            FileFormatError: There are no documents, or none with words.
            StoreError: The files cannot be written.
        """
        require_name(name, "Corpus name")
        cut = chunking or Chunking()
        with working(f"reading {source.name}"):
            digest = content_hash(source)
        planned = Manifest(
            name=name,
            content_hash=digest,
            analyser=self._analyser.name,
            words=cut.words,
            overlap=cut.overlap,
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
                # Where no document could be read, the reasons help, not that there is none.
                _refuse(source, problems)
                raise
            _refuse(source, problems)
            self._replace(name, place)
        return Imported(manifest=manifest, built=True)

    def open(self, name: str) -> Corpus:
        """Open a corpus; a NotFoundError where there is none of the name."""
        folder = self._folder / require_name(name, "Corpus name")
        if not (folder / MANIFEST).is_file():
            names = ", ".join(manifest.name for manifest in self.list()) or "none"
            raise NotFoundError(f"There is no corpus {name!r}.", advice=f"Import it; known are: {names}.")
        return Corpus(folder, self._analyser)

    @contextmanager
    def _build_folder(self) -> Iterator[Path]:
        """A folder to build in, on the same disk, gone afterwards."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            place = Path(mkdtemp(prefix=BUILDING, dir=self._folder))
        except OSError as error:
            message = f"No corpus can be written to {self._folder}: {error.strerror or error}."
            raise StoreError(message, advice="Free some space, or set ARENA_HOME elsewhere.") from error
        try:
            yield place
        except OSError as error:
            message = f"The corpus could not be written: {error.strerror or error}."
            raise StoreError(message, advice="Free some space and import it again.") from error
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _replace(self, name: str, built: Path) -> None:
        """Put a complete corpus in the place of an older one; readers of the old keep its files."""
        target = self._folder / name
        if target.exists():
            old = Path(mkdtemp(prefix=REPLACED, dir=self._folder))
            target.replace(old / name)
            built.replace(target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            built.replace(target)


def _distinct(documents: Iterator[Passage], problems: ProblemList) -> Iterator[Passage]:
    """Note documents with an id that was there already, and leave them out."""
    seen: set[int] = set()
    for number, document in enumerate(documents, start=1):
        key = hash(document.id)
        if key in seen:
            problems.add(number, "duplicate-id", f"Two documents have the id {document.id!r}.")
            continue
        seen.add(key)
        yield document


def _refuse(path: Path, problems: ProblemList) -> None:
    if problems.errors:
        message = f"{path} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice="Correct them and import it again.")
