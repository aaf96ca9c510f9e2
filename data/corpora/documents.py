"""Read the documents of a corpus: a folder of text files, or JSONL lines `{"id", "title", "text"}`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from data.errors import FileFormatError, InvalidFileError
from data.files import MEBIBYTE, GuardedStream, ReadLimits
from data.jsonl import each_record
from data.records import Passage, ProblemList

TEXT_FILES = (".txt", ".md", ".text")
LARGEST = ReadLimits(file_bytes=64 * 1024 * MEBIBYTE, lines=200_000_000)
ADVICE = "Bring a folder of .txt or .md files, or a JSONL file with an id and a text a line."
READ_AT_ONCE = MEBIBYTE


def read_documents(path: Path, problems: ProblemList, limits: ReadLimits = LARGEST) -> Iterator[Passage]:
    """Yield the documents of a folder (ids are the paths within it) or of a JSONL file, plain or gzipped.

    What cannot be read is noted and left out.

    Raises:
        FileFormatError: There is nothing of either kind at the path.
    """
    if path.is_dir():
        yield from _from_folder(path, problems, limits)
    else:
        yield from (document for _, document in each_record(path, limits, _document, problems))


def content_hash(path: Path, limits: ReadLimits = LARGEST) -> str:
    """The sha256 of all that `read_documents` reads: names and bytes, in order.

    Raises:
        FileFormatError: There is nothing at the path, or it cannot be read.
    """
    digest = hashlib.sha256()
    for file in text_files(path) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else ""
        digest.update(f"{len(name)}:{name}:".encode())
        with GuardedStream(file, limits) as stream:
            while piece := stream.read(READ_AT_ONCE):
                digest.update(piece)
    return digest.hexdigest()


def text_files(folder: Path) -> list[Path]:
    """The text files of a folder and the folders in it, by path.

    Raises:
        FileFormatError: There are none.
    """
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in TEXT_FILES and path.is_file())
    if not found:
        raise FileFormatError(f"{folder} holds no text files.", advice=ADVICE, code="empty-file")
    return found


def refuse(path: Path, problems: ProblemList) -> None:
    """Stop where documents could not be read.

    Raises:
        InvalidFileError: There are problems; all of them are listed.
    """
    if problems.errors:
        message = f"{path} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice="Mend them and import it again.")


def _from_folder(folder: Path, problems: ProblemList, limits: ReadLimits) -> Iterator[Passage]:
    for path in text_files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            with GuardedStream(path, limits) as stream:
                content = b"".join(iter(lambda: stream.read(READ_AT_ONCE), b""))
            text = content.decode("utf-8")
        except FileFormatError as error:
            problems.add(0, error.code, f"{name}: {error.message}", advice=error.advice)
            continue
        except UnicodeDecodeError:
            problems.add(0, "encoding", f"{name} is no UTF-8 text.", advice="Save it as UTF-8.")
            continue
        yield Passage(name, text, path.stem)


def _document(line: int, row: object, problems: ProblemList) -> Passage | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    name, text, title = row.get("id"), row.get("text"), row.get("title")
    if not isinstance(name, str | int) or isinstance(name, bool) or not str(name).strip():
        problems.add(line, "missing-field", "There is no id.")
        return None
    if not isinstance(text, str):
        problems.add(line, "missing-field", "There is no text, or it is not a string.")
        return None
    return Passage(str(name), text, title if isinstance(title, str) else "")
