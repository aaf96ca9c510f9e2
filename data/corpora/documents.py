"""Readers of documents: BEIR, Pyserini, MS MARCO v2.1, TREC's SGML, plain folders; chunking."""

import hashlib
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from data.errors import FileFormatError, RecordError
from data.files.tables.reader import each_record
from data.files.text_files import MEBIBYTE, GuardedStream, ReadLimits, read_text
from data.models import Passage, ProblemList

LARGEST = ReadLimits(file_bytes=64 * 1024 * MEBIBYTE, lines=200_000_000)
READ_AT_ONCE = MEBIBYTE
BEIR_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
IDS = ("id", "_id", "docid", "doc_id", "docno")
TEXTS = ("text", "contents", "segment", "body")
ADVICE = (
    "Use a folder of .txt or .md files, JSONL files with an id (`id`, `_id`, `docid`, `doc_id` or `docno`) "
    "and a text (`text`, `contents`, `segment` or `body`) in each line, or TREC files of <DOC> elements."
)


class DocumentFormat(StrEnum):
    """Format of documents: one per file, line or `<DOC>` element."""

    TEXT = "text"
    JSONL = "jsonl"
    TREC = "trec"


_FORMATS: Mapping[str, DocumentFormat] = MappingProxyType(
    {
        ".txt": DocumentFormat.TEXT,
        ".md": DocumentFormat.TEXT,
        ".text": DocumentFormat.TEXT,
        ".jsonl": DocumentFormat.JSONL,
        ".ndjson": DocumentFormat.JSONL,
        ".trec": DocumentFormat.TREC,
        ".sgml": DocumentFormat.TREC,
    }
)
_ABOUT_THE_FOLDER = ("readme", "license", "licence")


def read_documents(path: Path, problems: ProblemList, limits: ReadLimits = LARGEST) -> Iterator[Passage]:
    """Yield the documents of a folder or a file, plain or gzipped, and add the problems of unreadable ones.

    The `headings` of MS MARCO's rows are appended to the title.
    """
    for file in document_files(path):
        kind = _kind_of(file)
        if path.is_dir() and kind is DocumentFormat.TEXT:
            yield from _text_file(file, file.relative_to(path).as_posix(), problems, limits)
        elif kind is DocumentFormat.TREC:
            yield from _trec_file(file, _label(file, path), problems, limits)
        else:
            try:
                yield from (document for _, document in each_record(file, limits, _document, problems))
            except FileFormatError as error:
                if not path.is_dir():
                    raise
                problems.note(error, _label(file, path))


def _label(file: Path, path: Path) -> str:
    return file.relative_to(path).as_posix() if path.is_dir() else file.name


def content_hash(path: Path, limits: ReadLimits = LARGEST) -> str:
    """Return the sha256 of the names and bytes that `read_documents` reads, in order."""
    digest = hashlib.sha256()
    for file in document_files(path):
        name = file.relative_to(path).as_posix() if path.is_dir() else ""
        digest.update(f"{len(name)}:{name}:".encode())
        try:
            with GuardedStream(file, limits) as stream:
                while piece := stream.read(READ_AT_ONCE):
                    digest.update(piece)
        except FileFormatError as error:
            # `read_documents` reports unreadable files of a folder.
            if not path.is_dir():
                raise
            digest.update(error.code.encode())
    return digest.hexdigest()


def document_files(path: Path) -> Sequence[Path]:
    """Return the files of documents: the file itself, BEIR's `corpus.jsonl`, or all of one kind."""
    if not path.is_dir():
        return (path,)
    for name in BEIR_CORPUS:
        if (path / name).is_file():
            return (path / name,)
    files = [file for file in sorted(path.rglob("*")) if _kind_of(file) and file.is_file()]
    kinds = {_kind_of(file) for file in files}
    if len(kinds) > 1:
        files = [file for file in files if not file.stem.casefold().startswith(_ABOUT_THE_FOLDER)]
        kinds = {_kind_of(file) for file in files}
    if len(kinds) > 1:
        message = f"{path} mixes several kinds of documents: {', '.join(sorted(map(str, kinds)))}."
        raise FileFormatError(message, advice="Put each kind in its own folder.", code="mixed-files")
    if not files:
        raise FileFormatError(f"{path} contains no documents.", advice=ADVICE, code="empty-file")
    return files


def _kind_of(path: Path) -> DocumentFormat | None:
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return _FORMATS.get(plain.suffix.lower())


def _text_file(path: Path, name: str, problems: ProblemList, limits: ReadLimits) -> Iterator[Passage]:
    try:
        with GuardedStream(path, limits) as stream:
            content = b"".join(iter(lambda: stream.read(READ_AT_ONCE), b""))
        text = content.decode("utf-8")
    except FileFormatError as error:
        problems.note(error, name)
    except UnicodeDecodeError:
        problems.add(0, "encoding", f"{name} is not UTF-8 text.", advice="Save it as UTF-8.")
    else:
        yield Passage(name, text, path.stem)


def _document(line: int, row: Mapping[str, object], problems: ProblemList) -> Passage | None:
    name = next((row[key] for key in IDS if key in row), None)
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        problems.add(line, "missing-field", f"The document has no id: none of {', '.join(IDS)} is set.")
        return None
    key = next((key for key in TEXTS if key in row), None)
    text = row[key] if key else None
    if not isinstance(text, str):
        problems.add(line, "missing-field", f"The text is missing: none of {', '.join(TEXTS)} is a string.")
        return None
    titles = [value.strip() for part in ("title", "headings") if isinstance(value := row.get(part), str)]
    return Passage(str(name), text, " ".join(filter(None, titles)))


_ELEMENT = re.compile(r"<(/?)(DOC|DOCNO|TEXT|TITLE|HEAD|HEADLINE|HL|TTL)>", re.IGNORECASE)
TITLES = ("TITLE", "HEAD", "HEADLINE", "HL", "TTL")
_TAG = re.compile(r"</?[A-Za-z][^<>]*+>|<!--[^<>]*+-->")


def _trec_file(path: Path, name: str, problems: ProblemList, limits: ReadLimits) -> Iterator[Passage]:
    try:
        text = read_text(path, limits)
    except FileFormatError as error:
        problems.note(error, name)
        return
    end, line = 0, 1
    for start, stop in _elements(text, "DOC"):
        line += text.count("\n", end, start)
        element = text[start:stop]
        numbers = [(element[begin:close].strip(), close) for begin, close in _elements(element, "DOCNO")]
        number, after = numbers[0] if numbers else ("", 0)
        if not number:
            problems.add(line, "missing-field", "This <DOC> has no <DOCNO>.")
        elif len(number.split()) > 1:
            problems.add(line, "bad-id", f"The <DOCNO> {number!r} contains whitespace.")
        else:
            titles = [_plain(element[begin:close]) for begin, close in _elements(element, *TITLES)]
            bodies = [element[begin:close] for begin, close in _elements(element, "TEXT")]
            yield Passage(number, _plain("\n".join(bodies or [element[after:]])), next(iter(titles), ""))
        line += text.count("\n", start, stop)
        end = stop
    if "<DOC>" in text[end:].upper():
        problems.add(0, "truncated", f"{name}: the last <DOC> is not closed.")


def _elements(text: str, *names: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the contents of closed elements, in linear time."""
    tags = [tag for tag in _ELEMENT.finditer(text) if tag[2].upper() in names]
    last = {tag[2].upper(): place for place, tag in enumerate(tags) if tag[1]}
    opening: re.Match[str] | None = None
    for place, tag in enumerate(tags):
        if opening is None:
            opening = tag if not tag[1] and last.get(tag[2].upper(), -1) > place else None
        elif tag[1] and tag[2].upper() == opening[2].upper():
            yield opening.end(), tag.start()
            opening = None


def _plain(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()


WORDS = 128
OVERLAP = 32
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
MARK = "#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """Maximum words of a chunk and their overlap; in scripts without spaces a character is a word."""

    words: int = WORDS
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.words:
            message = f"Chunks of {self.words} words cannot overlap by {self.overlap}."
            raise RecordError(message, advice="Use at least one word and a smaller overlap, e.g. 128 and 32.")

    def cut(self, text: str) -> Iterator[str]:
        """Yield the chunks of a text; the last one is longer than the overlap, and a blank text has none."""
        if (text.isascii() or not UNSPACED_SIGN.search(text)) and len(text.split()) <= self.words:
            # Fast path: most passages are one chunk.
            if stripped := text.strip():
                yield stripped
            return
        spans = [(match.start(), match.end()) for match in WORD.finditer(text)]
        for first in range(0, max(1, len(spans) - self.overlap), self.words - self.overlap):
            window = spans[first : first + self.words]
            if window:
                yield text[window[0][0] : window[-1][1]]

    def joined(self, chunks: Sequence[str]) -> str:
        """Join consecutive chunks without their overlap."""
        if not chunks:
            return ""
        pieces = [chunks[0]]
        for chunk in chunks[1:]:
            spans = [match.end() for match in islice(WORD.finditer(chunk), self.overlap)]
            pieces.append(chunk[spans[-1] :] if spans else f" {chunk}")
        return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Analyser:
    """Analyser of texts; `name` changes with its terms.

    Attributes:
        words: Returns the words of a text, with repeats.
        of_word: Returns the terms of a word; called once for each word of a corpus.
    """

    name: str
    words: Callable[[str], Sequence[str]]
    of_word: Callable[[str], Sequence[str]] = lambda word: (word,)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, with repeats."""
        return [term for word in self.words(text) for term in self.of_word(word)]


def chunk_id(document: str, number: int) -> str:
    """Return the id of a document's chunk, counted from 1."""
    return f"{document}{MARK}{number}"


def document_of(chunk: str) -> str:
    """Return the document of a chunk's id; other ids are documents themselves."""
    document, mark, number = chunk.rpartition(MARK)
    return document if mark and number.isdigit() else chunk
