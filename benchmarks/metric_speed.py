"""Measure the embedded metrics: time per answer on one core, and publication of a large set.

    python benchmarks/metric_speed.py [--repeats 3]            # ms of processor time per answer, by metric
    python benchmarks/metric_speed.py --publish [--questions 14016] [--passages 0 5]

The first scores the demo set's answers question by question, each metric in a process configured like arena's
scoring processes; with 10 passages, a question also has those of the next one. The second creates a set,
three systems and a judged round, and publishes it for each `--passages`; 0 skips factuality. Times are
processor times, which other processes also increase: use the minimum of several runs on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from made import ROOT, add_set, answers_file, arena_in, processor_seconds, settle

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.text_process import end_idle
from data.models import MetricItem, Passage
from judges.metrics.registry import build_metric
from judges.text.sentences import split_sentences

DEMO = ROOT / "data/sets/demo"
SYSTEMS = ("north", "south", "west")
TARGETS: dict[tuple[str, int], float] = {
    ("reference-coverage", 0): 1.0,
    ("reference-coverage", 5): 1.0,
    ("comprehensiveness-nli", 5): 2.0,
    ("coverage-icat-s", 5): 2.0,
    ("coverage-icat-a", 5): 2.0,
    ("factuality-fr2", 5): 10.0,
    ("factuality-fr2", 10): 10.0,
}
MEASURED = (
    *TARGETS,
    ("comprehensiveness-nli", 10),
    ("coverage-icat-s", 10),
    ("factuality-fr1", 10),
    ("factuality-fr3", 5),
    ("factuality-fr3", 10),
    ("answer-crux", 5),
    ("context-crux", 5),
    ("citation-support", 5),
    ("comprehensiveness-end-to-end", 5),
)
PUBLISHED_WITHIN = 60.0
JUDGED = "UPDATE battle SET outcome = 'judged', preference = CASE id % 3 WHEN 0 THEN 'a' ELSE 'b' END"
SENTENCES = 6
"""Sentences of a synthetic reference and answer; a passage has four."""


def demo_items(passages: int) -> list[MetricItem]:
    """Return the demo's answers by question; more than five passages include those of the next question."""
    lines = (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    passages_of = [tuple(Passage(**passage) for passage in question["passages"]) for question in questions]
    place = {question["id"]: at for at, question in enumerate(questions)}
    items = []
    for file in sorted((DEMO / "answers").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            at = place[row["question_id"]]
            question = questions[at]
            more = passages_of[(at + 1) % len(passages_of)] if passages > len(passages_of[at]) else ()
            items.append(
                MetricItem(
                    id=question["id"],
                    question=question["question"],
                    answer=row["answer"],
                    passages=(
                        *passages_of[at],
                        *(replace(passage, id=f"more {passage.id}") for passage in more),
                    )[:passages],
                    reference=question.get("reference"),
                    contexts=tuple(Passage(**context) for context in row.get("contexts", ())),
                    aspects=tuple(question.get("aspects", ())),
                    sub_questions=tuple(question.get("sub_questions", ())),
                )
            )
    return sorted(items, key=lambda item: place[item.id])


def cost(metric: str, items: Sequence[MetricItem]) -> float:
    """Return the milliseconds of processor time per answer, with empty caches and loaded modules."""
    gc.set_threshold(50_000, *gc.get_threshold()[1:])
    built = build_metric(metric)
    first = MetricItem(
        id="", question="Which is it?", answer="It is the first.", passages=(Passage("", "It is."),)
    )

    async def score(some: Sequence[MetricItem]) -> None:
        for item in some:
            await built.score(item)

    asyncio.run(score([first]))
    started = time.process_time()
    asyncio.run(score(items))
    return 1_000 * (time.process_time() - started) / len(items)


def table(repeats: int) -> None:
    """Print the time per answer of each metric."""
    print(f"{'metric':30} {'passages':>8}  embedded scoring, ms a core   (least)  target")
    for metric, passages in MEASURED:
        command = [sys.executable, __file__, "--one", metric, "--passages", str(passages)]
        runs = [
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(repeats)
        ]
        middle, target = statistics.median(runs), TARGETS.get((metric, passages))
        verdict = "" if target is None else f"{target:g}: {'met' if middle < target else 'missed'}"
        print(f"{metric:30} {passages:8}  {middle:27.2f}  {min(runs):8.2f}", verdict, flush=True)


class Texts:
    """Generator of texts that consist of the demo's sentences, each with a unique word."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        lines = (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        self._pools = [
            [
                sentence
                for passage in json.loads(line)["passages"]
                for sentence in split_sentences(passage["text"])
            ]
            for line in lines
        ]
        self._questions = [json.loads(line)["question"] for line in lines]
        self._made = 0

    def question(self, number: int) -> str:
        """Return a unique question."""
        return f"{self._questions[number % len(self._questions)][:-1]} at {self._word()}?"

    def text(self, number: int, sentences: int) -> str:
        """Return this many sentences of a question's texts, each unique."""
        pool = self._pools[number % len(self._pools)]
        return " ".join(self._changed(sentence) for sentence in self._random.choices(pool, k=sentences))

    def _changed(self, sentence: str) -> str:
        words = sentence.split()
        words[self._random.randrange(len(words) - 1) if len(words) > 1 else 0] = self._word()
        return " ".join(words)

    def _word(self) -> str:
        self._made += 1
        letters, left = "", self._made
        while left:
            left, digit = divmod(left, 80)
            letters += "bdfghklmnprstvwz"[digit % 16] + "aeiou"[digit // 16]
        return f"{letters}k"


def make_round(arena: Arena, folder: Path, questions: int, passages: int) -> None:
    """Create a set, its answers, and a judged, unpublished round."""
    texts = Texts()
    rows = (
        {
            "id": f"q{number}",
            "domain": "d",
            "question": texts.question(number),
            "reference": texts.text(number, SENTENCES),
            "passages": [{"id": f"p{place}", "text": texts.text(number, 4)} for place in range(passages)],
        }
        for number in range(questions)
    )
    add_set(arena, folder, "large", rows, ("d",))
    for system in SYSTEMS:
        answers = (texts.text(number, SENTENCES) for number in range(questions))
        arena.submissions.add(answers_file(folder, system, answers), "large", system=system)
    # Without passages the embedded judge cannot decide whether an answer or the reference is better.
    pairs = "reference" if passages else "all"
    arena.rounds.create(RoundRequest(set_name="large", judge="lexical", pairs=pairs, name="large"))
    settle(arena, "large", (JUDGED,))


def publish(questions: int, passages: int) -> None:
    """Publish a large set and print seconds and memory."""
    with tempfile.TemporaryDirectory() as place:
        # Time limits on file checks must not depend on other tasks.
        arena = arena_in(Path(place), work_seconds=600)
        make_round(arena, Path(place) / "large", questions, passages)
        # Their time so far was spent on file checks.
        end_idle()
        started, used = time.perf_counter(), processor_seconds()
        arena.boards.publish("large", report=lambda line: print(f"  {line}", flush=True))
        end_idle()
        seconds, used = time.perf_counter() - started, processor_seconds() - used
        arena.close()
    peaks = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ours, theirs = (peak / 1024 for peak in peaks)
    print(f"{questions * len(SYSTEMS):,} answers and {questions:,} references, {passages} passages each:")
    print(f"  {seconds:.0f} s by the clock, {used:.1f} s of the processor")
    print(f"  peak memory {ours:.0f} MB, of a scoring process {theirs:.0f} MB")
    if not passages:
        print(f"  at best {used / 2:.0f} s on two quiet cores (target {PUBLISHED_WITHIN:.0f} s)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--questions", type=int, default=14_016)
    parser.add_argument("--passages", type=int, nargs="+", default=[0, 5])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(cost(options.one, demo_items(options.passages[0])))
    elif options.publish:
        for passages in options.passages:
            publish(options.questions, passages)
    else:
        table(options.repeats)


if __name__ == "__main__":
    main()
