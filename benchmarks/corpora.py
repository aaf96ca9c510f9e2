"""How much memory and time a large corpus takes: to index, and to search.

    python benchmarks/corpora.py [--chunks 1000000] [--queries 200] [--keep FOLDER] [--json]

Made-up text with the word frequencies of English (Zipf) in chunks of 128 words. Indexing and searching run in
a process each, so that each has its own peak of memory; the target is 2 GB for either. `tokens` is the time
of cutting the same text into chunks and terms alone: what indexing costs beyond it is the ratio to look at.
"""

# ruff: noqa: E402 - the checkout goes before what is installed

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np

from data.corpora.chunking import Chunking
from data.corpora.index import Corpus, build_corpus
from data.corpora.manifests import Manifest
from data.records import Passage
from judges.metrics.coverage.sources import TERMS

VOCABULARY = 200_000
CHUNKS_A_DOCUMENT = 10
LIMIT_MB = 2_048
SAMPLE = 20_000


def vocabulary() -> list[str]:
    """Pseudo-words of 2 to 10 letters, the same in every process."""
    generator = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgk"
    return ["".join(generator.choices(letters, k=generator.randint(2, 10))) for _ in range(VOCABULARY)]


def documents(chunks: int) -> Iterator[Passage]:
    """Documents that make so many chunks."""
    words = np.array(vocabulary(), dtype=object)
    generator = np.random.default_rng(11)
    chances = 1 / np.arange(2, VOCABULARY + 2)
    steps = np.cumsum(chances / chances.sum())
    size = 32 + CHUNKS_A_DOCUMENT * 96
    for number in range(chunks // CHUNKS_A_DOCUMENT):
        drawn = np.minimum(np.searchsorted(steps, generator.random(size)), VOCABULARY - 1)
        yield Passage(f"d{number}", " ".join(words[drawn]), "")


def index(folder: Path, chunks: int) -> dict[str, float]:
    """Build the corpus."""
    started = time.perf_counter()
    wanted = Manifest(name="bench", content_hash="", analyser=TERMS.name, words=128, overlap=32)
    made = build_corpus(folder, documents(chunks), wanted, TERMS)
    return {"seconds": time.perf_counter() - started, "chunks": made.chunks}


def tokens(chunks: int) -> dict[str, float]:
    """Cut into chunks and terms a sample, extrapolated."""
    sample = min(chunks, SAMPLE)
    started = time.perf_counter()
    cut = Chunking()
    for document in documents(sample):
        for text in cut.cut(document.text):
            list(TERMS.terms(text))
    return {"seconds": (time.perf_counter() - started) * chunks / sample}


def search(folder: Path, queries: int) -> dict[str, float]:
    """Open the corpus and search it for claims of a dozen words."""
    started = time.perf_counter()
    corpus = Corpus(folder, TERMS)
    opened = time.perf_counter() - started
    words = vocabulary()
    generator = random.Random(3)
    asked = [
        " ".join(words[int(generator.paretovariate(0.4)) % VOCABULARY] for _ in range(12))
        for _ in range(queries)
    ]
    started = time.perf_counter()
    found = sum(len(corpus.find(query, 10)) for query in asked)
    return {"opened": opened, "seconds": time.perf_counter() - started, "found": found}


def part(arguments: argparse.Namespace) -> dict[str, float]:
    """One part, in this process, with its peak of memory."""
    folder = Path(arguments.keep)
    done = {
        "index": lambda: index(folder, arguments.chunks),
        "tokens": lambda: tokens(arguments.chunks),
        "search": lambda: search(folder, arguments.queries),
    }[arguments.part]()
    return {**done, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main() -> None:
    """Run the parts and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--keep", default="", help="keep the corpus in this folder")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", choices=["index", "tokens", "search"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(part(arguments)))
        return
    folder = Path(arguments.keep or tempfile.mkdtemp(prefix="corpus-"))
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, float]] = {}
    try:
        for name in ("tokens", "index", "search"):
            command = [sys.executable, __file__, "--part", name, "--keep", str(folder)]
            command += ["--chunks", str(arguments.chunks), "--queries", str(arguments.queries)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results[name] = json.loads(done.stdout)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        print(json.dumps({**results, "disk_mb": size / 2**20}))
        return
    for name, values in results.items():
        over = "" if values["peak_mb"] <= LIMIT_MB else "  OVER 2 GB"
        rest = "  ".join(f"{key} {value:,.2f}" for key, value in values.items())
        print(f"{name:8} {rest}{over}")
    ratio = results["index"]["seconds"] / results["tokens"]["seconds"]
    print(f"indexing / cutting into terms: {ratio:.2f}; on disk {size / 2**20:,.0f} MB")


if __name__ == "__main__":
    main()
