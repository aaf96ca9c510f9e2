"""JSON, one object a line."""

from __future__ import annotations

from collections.abc import Iterator

from data.errors import FileFormatError
from data.files import GuardedStream, decode, parse_json
from submissions.codes import Code, Findings
from submissions.formats.rows import Row


def read_jsonl(stream: GuardedStream, findings: Findings) -> Iterator[Row]:
    """Yield the lines that are JSON, noting those that are not; blank lines are passed over.

    Raises:
        FileFormatError: The stream ends at a limit or in damage, or there are too many errors.
    """
    while content := stream.readline():
        text = content.strip()
        if not text:
            continue
        try:
            value = parse_json(decode(text, stream.line), stream.line)
        except FileFormatError as error:
            if (
                not content.endswith(b"\n")
                and error.code in {Code.NOT_JSON, Code.NOT_UTF8}
                and stream.line > 1
            ):
                findings.add(
                    stream.line,
                    Code.TRUNCATED_FILE,
                    "The last line is cut off.",
                    "Write the file again and upload all of it.",
                )
                continue
            findings.add_failure(error)
            continue
        yield Row(stream.line, value)
