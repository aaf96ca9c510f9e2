"""What importing a corpus costs beside bm25s alone, in processor time and memory.

    python benchmarks/corpus_build.py [--passages 100000] [--runs 3] [--json]

Both read the same JSONL file (`_id`, `title`, `text`; about 80 words a passage, with the word frequencies of
English), stem with PyStemmer, leave out function words, index, and save index and texts. Each run is a
process of its own; the two take turns, and the ratio is that of their medians. The targets: at most 1.3 at
100,000 passages, and 1.3 GB at 1,000,000.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

VOCABULARY = 300_000
WORDS = 80
FUNCTION_WORDS = ["the", "of", "and", "to", "in", "a", "is", "that", "it", "was", "for", "on", "are", "with"]
ENDINGS = ("", "", "", "s", "ed", "ing", "er", "ly", "ation")
MOST = 1.3


def write_passages(path: Path, passages: int) -> None:
    """Write the file that both read."""
    import numpy as np

    letters = random.Random(7)
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en", "is", "ol")]
    words = [*FUNCTION_WORDS]
    while len(words) < VOCABULARY:
        stem = "".join(letters.choices(syllables, k=letters.randint(1, 4)))
        words.append(stem + letters.choice(ENDINGS))
    generator = np.random.default_rng(11)
    chances = 1 / np.arange(3, VOCABULARY + 3)
    steps = np.cumsum(chances / chances.sum())
    with path.open("w", encoding="utf-8") as file:
        for number in range(passages):
            size = int(generator.integers(WORDS // 2, 3 * WORDS // 2))
            places = np.minimum(np.searchsorted(steps, generator.random(size)), VOCABULARY - 1)
            text = " ".join(words[place] for place in places.tolist())
            row = {"_id": f"d{number}", "title": f"Passage {number}", "text": f"{text.capitalize()}."}
            file.write(json.dumps(row) + "\n")


def ours(source: Path, folder: Path) -> None:
    """`arena corpora import`."""
    from data.corpora.library import CorpusLibrary
    from judges.metrics.coverage.sources import TERMS

    CorpusLibrary(folder, TERMS).add("bench", source)


def theirs(source: Path, folder: Path) -> None:
    """bm25s as its documentation has it."""
    import bm25s
    import Stemmer

    with source.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [f"{row['title']} {row['text']}" for row in rows]
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
    index = bm25s.BM25()
    index.index(tokens, show_progress=False)
    index.save(folder / "bench", corpus=rows, show_progress=False)


PARTS: Mapping[str, Callable[[Path, Path], None]] = {"import": ours, "bm25s": theirs}


def part(name: str, source: Path) -> dict[str, float]:
    """One part, in this process."""
    folder = Path(tempfile.mkdtemp(prefix="build-", dir=source.parent))
    started, clock = time.process_time(), time.perf_counter()
    PARTS[name](source, folder)
    took = {"cpu_seconds": time.process_time() - started, "seconds": time.perf_counter() - clock}
    took["disk_mb"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    shutil.rmtree(folder)
    return {**took, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main() -> None:
    """Run both in turns and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=sorted(PARTS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", choices=sorted(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(part(arguments.part, arguments.source)))
        return
    names = [arguments.only] if arguments.only else list(PARTS)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        source = Path(folder) / "passages.jsonl"
        write_passages(source, arguments.passages)
        for _ in range(arguments.runs):
            for name in names:
                command = [sys.executable, __file__, "--part", name, "--source", str(source)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                runs[name].append(json.loads(done.stdout))
    found = {
        name: {key: statistics.median(run[key] for run in done) for key in done[0]}
        for name, done in runs.items()
    }
    ratio = None
    if len(found) > 1:
        ratio = found["import"]["cpu_seconds"] / found["bm25s"]["cpu_seconds"]
    if arguments.json:
        print(json.dumps({"passages": arguments.passages, **found, "ratio": ratio}))
        return
    for name, values in found.items():
        print(f"{name:8}" + "  ".join(f"{key} {value:,.2f}" for key, value in values.items()))
    if ratio is not None:
        print(f"import / bm25s: {ratio:.2f}{'' if ratio <= MOST else f'  OVER {MOST}'}")


if __name__ == "__main__":
    main()
