"""Measure the embedded metrics: time of an answer on one core, and publication of a large set.

    python benchmarks/metric_speed.py [--repeats 3]            # ms of processor time an answer, by metric
    python benchmarks/metric_speed.py --publish [--questions 14016] [--passages 0 5]

The first scores the demo set's answers question by question, each metric in a process of its own, set up
as arena's scoring processes are; with 10 passages, a question has another one's too. The second makes a set
of so many questions, three systems and a judged round, and publishes it, once for each `--passages`; without
any there is nothing to check facts against, so factuality is left out. Times are of the processor, which
other work on the machine lengthens too: take the least of several runs on a quiet one.
"""

# ruff: noqa: E402 - the checkout goes before what is installed

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
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sqlalchemy import text

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import MetricItem, Passage, RoundState
from judges.metrics.registry import build_metric
from judges.text.sentences import split_sentences
from judges.text.tokens import terms

DEMO = ROOT / "data/sets/demo"
SYSTEMS = ("north", "south", "west")
TOKENISING = "tokenising"
"""No metric: every text of a question cut into sentences and terms, once; what others are held against."""
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
    (TOKENISING, 0),
    (TOKENISING, 5),
    (TOKENISING, 10),
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
OVERHEAD = 1.3
SENTENCES = 6
"""Sentences of a synthetic reference and answer; a passage has four."""
SAMPLE = 200
"""Questions whose answers tell the metrics' own cost."""


def demo_items(passages: int) -> list[MetricItem]:
    """Return the demo's answers by question; beyond five, passages are those of the next question."""
    lines = (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    given = [tuple(Passage(**passage) for passage in question["passages"]) for question in questions]
    place = {question["id"]: at for at, question in enumerate(questions)}
    items = []
    for file in sorted((DEMO / "answers").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            at = place[row["question_id"]]
            question = questions[at]
            more = given[(at + 1) % len(given)] if passages > len(given[at]) else ()
            items.append(
                MetricItem(
                    id=question["id"],
                    question=question["question"],
                    answer=row["answer"],
                    passages=(*given[at], *(replace(each, id=f"more {each.id}") for each in more))[:passages],
                    reference=question.get("reference"),
                    contexts=tuple(Passage(**context) for context in row.get("contexts", ())),
                    aspects=tuple(question.get("aspects", ())),
                    sub_questions=tuple(question.get("sub_questions", ())),
                )
            )
    return sorted(items, key=lambda item: place[item.id])


def cost(metric: str, items: Sequence[MetricItem]) -> float:
    """Milliseconds of processor time an answer, caches empty at the start but modules loaded."""
    gc.set_threshold(50_000, *gc.get_threshold()[1:])
    if metric == TOKENISING:
        return tokenising(items)
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


def tokenising(items: Sequence[MetricItem]) -> float:
    """Milliseconds of processor time an answer that a bare pass over all texts takes."""
    terms("It is the first.")
    texts = dict.fromkeys(
        one
        for item in items
        for one in (item.answer, item.reference or "", *(each.text for each in item.passages))
    )
    started = time.process_time()
    for each in texts:
        for sentence in split_sentences(each):
            terms(sentence)
    return 1_000 * (time.process_time() - started) / len(items)


def table(repeats: int) -> None:
    """Print what an answer costs by each metric."""
    print(f"{'metric':30} {'passages':>8}  embedded scoring, ms a core   (least)  tokenising  target")
    bare: dict[int, float] = {}
    for metric, passages in MEASURED:
        command = [sys.executable, __file__, "--one", metric, "--passages", str(passages)]
        runs = [
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(repeats)
        ]
        if metric == TOKENISING:
            bare[passages] = statistics.median(runs)
        ratio = f"x {statistics.median(runs) / bare[passages]:8.2f}"
        target = TARGETS.get((metric, passages))
        verdict = ""
        if target is not None:
            verdict = f"{target:g}: {'met' if statistics.median(runs) < target else 'missed'}"
        print(
            f"{metric:30} {passages:8}  {statistics.median(runs):27.2f}  {min(runs):8.2f}  {ratio}",
            verdict,
            flush=True,
        )


class Texts:
    """Texts made of the demo's sentences, a word of each exchanged for one that is nowhere else."""

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
        """Return a question that no other has."""
        return f"{self._questions[number % len(self._questions)][:-1]} at {self._word()}?"

    def text(self, number: int, sentences: int) -> str:
        """So many sentences of a question's texts, each new."""
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
    """Store a set, its answers, and a judged round that is not published."""
    texts = Texts()
    folder.mkdir(parents=True)
    (folder / "set.toml").write_text(
        'name = "large"\nreference_name = "reference"\n[domains]\nd = "Domain"\n'
    )
    with (folder / "questions.jsonl").open("w") as file:
        for number in range(questions):
            given = [{"id": f"p{place}", "text": texts.text(number, 4)} for place in range(passages)]
            row = {"id": f"q{number}", "domain": "d", "question": texts.question(number), "passages": given}
            row["reference"] = texts.text(number, SENTENCES)
            file.write(json.dumps(row) + "\n")
    arena.sets.import_from(folder)
    for system in SYSTEMS:
        path = folder / f"{system}.jsonl"
        with path.open("w") as file:
            for number in range(questions):
                row = {"question_id": f"q{number}", "answer": texts.text(number, SENTENCES)}
                file.write(json.dumps(row) + "\n")
        arena.submissions.add(path, "large", system=system)
    request = RoundRequest(set_name="large", judge="lexical", pairs="reference", name="large")
    arena.rounds.create(request)
    with arena.store.database.begin() as connection:
        connection.execute(
            text(
                "UPDATE battle SET outcome = 'judged', preference = CASE id % 3 WHEN 0 THEN 'a' ELSE 'b' END"
            )
        )
    arena.store.rounds.move("large", to=RoundState.FINISHED, allowed=(RoundState.PLANNED,))


def processor_seconds() -> float:
    """Seconds of the processor that this process and its ended children used."""
    return sum(
        resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def publish(questions: int, passages: int) -> None:
    """Publish a large set, and print seconds, memory, and the ratio to the metrics' own cost."""
    from arena.services.text_process import end_idle

    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        # Checks of files are limited by the clock, which other work on the machine lengthens.
        settings = Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}", work_seconds=600)
        arena = Arena(settings)
        make_round(arena, home / "large", questions, passages)
        numbers = [each.id for each in arena.store.submissions.find(set_name="large")]
        names = ["reference-coverage", "comprehensiveness-nli", *(["factuality-fr3"] if passages else [])]
        own = {}
        for name in names:
            unscored = arena.store.scores.unscored(numbers, metric=name, judge="")
            taken = [item for _, item in islice(unscored, SAMPLE * (len(SYSTEMS) + 1))]
            file = home / "items.jsonl"
            file.write_text("\n".join(json.dumps(_plain(item)) for item in taken))
            command = [sys.executable, __file__, "--one", name, "--items", str(file)]
            own[name] = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        started, used = time.perf_counter(), processor_seconds()
        arena.boards.publish("large", report=lambda line: print(f"  {line}", flush=True))
        end_idle()
        seconds, used = time.perf_counter() - started, processor_seconds() - used
        arena.close()
    costs = sum(own.values()) * questions * (len(SYSTEMS) + 1) / 1_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{questions * len(SYSTEMS):,} answers and {questions:,} references, {passages} passages each:")
    print(f"  {seconds:.0f} s by the clock, {used:.0f} s of the processor")
    print(f"  the metrics' own cost: {costs:.0f} s; ratio {used / costs:.2f} (target {OVERHEAD})")
    print(*(f"    {name}: {value:.2f} ms an answer" for name, value in own.items()), sep="\n")
    print(f"  peak memory {peak:.0f} MB, of a scoring process {theirs:.0f} MB")
    if not passages:
        print(f"  at best {used / 2:.0f} s on two quiet cores (target {PUBLISHED_WITHIN:.0f} s)")


def _plain(item: MetricItem) -> dict[str, object]:
    passages = [{"id": each.id, "text": each.text, "title": each.title} for each in item.passages]
    return {
        "id": item.id,
        "question": item.question,
        "answer": item.answer,
        "reference": item.reference,
        "passages": passages,
    }


def _items_of(path: Path) -> list[MetricItem]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        MetricItem(**{**row, "passages": tuple(Passage(**passage) for passage in row["passages"])})
        for row in rows
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--questions", type=int, default=14_016)
    parser.add_argument("--passages", type=int, nargs="+", default=[0, 5])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--items", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(
            cost(options.one, _items_of(options.items) if options.items else demo_items(options.passages[0]))
        )
    elif options.publish:
        for passages in options.passages:
            publish(options.questions, passages)
    else:
        table(options.repeats)


if __name__ == "__main__":
    main()
