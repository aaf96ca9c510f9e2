"""Compare reading 100,000 answers with pandas and pyarrow: `python -m benchmarks.reading`."""

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from submissions.answer_tables import read_answer_table

PEERS: Mapping[str, Callable[[Path], object]] = {
    "csv": pd.read_csv,
    "jsonl": partial(pd.read_json, lines=True),
    "parquet": pq.read_table,
}


def seconds(work: Callable[[Path], object], path: Path) -> float:
    """Return the minimum processor time of three runs."""
    runs = [(time.process_time(), work(path), time.process_time()) for _ in range(3)]
    return min(end - begin for begin, _, end in runs)


def main() -> None:
    """Print a line for each format."""
    rows = [
        {"id": f"q{at}", "question": f"Is {at}, odd?", "answer": f"No: {at}. " * 50} for at in range(100_000)
    ]
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder, f"a.{kind}") for kind in PEERS}
        pd.DataFrame(rows).to_csv(files["csv"], index=False)
        pd.DataFrame(rows).to_parquet(files["parquet"])
        files["jsonl"].write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        for kind, path in files.items():
            ours, peer = seconds(read_answer_table, path), seconds(PEERS[kind], path)
            print(f"{kind}: {ours:.2f} s, {ours / peer:.1f} times the {peer:.2f} s of the peer")


if __name__ == "__main__":
    main()
