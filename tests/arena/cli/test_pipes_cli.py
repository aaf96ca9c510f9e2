"""Files that are no files: standard input and pipes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from arena.cli.options import whole_file


def test_a_named_pipe_is_read_once_and_whole(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe.jsonl", tmp_path / "file.jsonl"
    os.mkfifo(pipe)
    content = b'{"question_id": "1", "answer": "A"}\n' * 10_000
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    copy = whole_file(pipe)
    writer.join()
    assert (copy.name, copy.read_bytes()) == ("pipe.jsonl", content)
    file.write_bytes(content)
    assert whole_file(file) == file
    assert whole_file(tmp_path / "none") == tmp_path / "none"
