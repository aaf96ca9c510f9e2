"""Choose and check the score of `reference-coverage` on what people marked as missing in real answers.

    python benchmarks/facts_covered.py [DATA]

DATA has `qa_feedback/spans.jsonl` and `qa_feedback/pairs.jsonl`. An answer lacks information where people
marked a sentence of its passages as missing. Prints how well each score of the same facts tells such answers:
the AUC with its 95 % interval (2,000 resamples of questions), the mean over 20 splits of the questions, where
the score that is best on four fifths is measured on the fifth, the AUC among references with as many facts
(a longer reference leaves more to miss, whoever answers), how often the answer as people corrected it has the
higher score, and how often the answer that people prefer has (ties half). Then other ways to cut and weigh.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from relation_data import DATA, marked_answers
from relations import auc, interval
from sklearn.metrics import roc_auc_score

from data.records import MetricItem
from judges.metrics.reference.facts import facts_of
from judges.metrics.registry import build_metric
from judges.text.sentences import split_clauses, split_sentences
from judges.text.tokens import terms

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SPLITS, LEFT_OUT = 20, 0.2
FLOOR = 0.05
Combine = Callable[[Floats], float]
Found = tuple[float, Floats, list[str]]
SCORES: Mapping[str, Combine] = {
    "share covered (mean)": lambda shares: float(shares.mean()),
    "lowest fact": lambda shares: float(shares.min()),
    "share covered and lowest fact, mean": lambda shares: float((shares.mean() + shares.min()) / 2),
    "share covered x lowest fact": lambda shares: float(shares.mean() * shares.min()),
    "product of the facts": lambda shares: float(np.maximum(shares, FLOOR).prod()),
    "1 / (1 + missing)": lambda shares: float(1 / (1 + (1 - shares).sum())),
    "1 / (1 + missing squared)": lambda shares: float(1 / (1 + ((1 - shares) ** 2).sum())),
}
FINE = re.compile(r";\s+|\s[–—]\s|,\s+(?=(?:and|but|while|which|who|where|when|although|because)\s)")


@dataclass(frozen=True)
class Texts:
    """A question with a reference, and an answer to it."""

    id: str
    question: str
    reference: str
    answer: str


def items_of(data: Path) -> tuple[list[Texts], Flags, list[Texts | None], list[tuple[Texts, Texts, bool]]]:
    """The marked answers, whether they lack something, as they were corrected, and pairs (a better?)."""
    rows = {row["id"]: row for row in _rows(data / "qa_feedback" / "spans.jsonl")}
    lacking = {answer.item.id: bool(answer.missing) for answer in marked_answers(data)}
    answers = [Texts(name, row["question"], row["reference"], row["answer"]) for name, row in rows.items()]
    corrected = [
        Texts(name, row["question"], row["reference"], row["corrected"])
        if lacking[name] and row["corrected"].strip()
        else None
        for name, row in rows.items()
    ]
    pairs = [
        (
            Texts(row["id"], row["question"], row["reference"], row["answer_a"]),
            Texts(row["id"], row["question"], row["reference"], row["answer_b"]),
            row["label"] == "a",
        )
        for row in _rows(data / "qa_feedback" / "pairs.jsonl")
        if row["label"] in {"a", "b"}
    ]
    return answers, np.array([lacking[each.id] for each in answers]), corrected, pairs


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        raise SystemExit(f"{path} is not there; name the folder of the data.")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_metric(texts: Sequence[Texts]) -> list[Found]:
    """The metric's score of each answer, and the share and state of each fact."""
    metric = build_metric("reference-coverage")

    async def score() -> list[Found]:
        found = []
        for each in texts:
            item = MetricItem(
                id=each.id, question=each.question, answer=each.answer, reference=each.reference
            )
            scored = await metric.score(item)
            facts = scored.details["facts"]
            assert scored.score is not None
            assert isinstance(facts, list)
            shares = np.array([fact["share"] for fact in facts], dtype=float)
            found.append((scored.score, shares, [str(fact["state"]) for fact in facts]))
        return found

    return asyncio.run(score())


def report(
    name: str,
    values: Floats,
    labels: Flags,
    counts: NDArray[np.int_],
    corrected: Sequence[float | None],
    pairs: Sequence[tuple[float, float, bool]],
) -> None:
    """Print what is known of one score."""
    names = [str(at) for at in range(len(values))]
    whole = interval(lambda rows: auc(-values[rows], labels[rows]), names)
    assert abs(roc_auc_score(labels, -values) - auc(-values, labels)) < 1e-9
    above = [
        _above(after, before) for after, before in zip(corrected, values, strict=True) if after is not None
    ]
    preferred = [_above(a, b) if a_better else _above(b, a) for a, b, a_better in pairs]
    alike = _among(values, labels, counts)
    row = f"{alike:.3f} | {np.mean(above):.2f} | {np.mean(preferred):.3f} | {values.mean():.2f}"
    print(f"| {name} | {whole} | {row} |")


def _above(one: float, other: float) -> float:
    return float(one > other) + 0.5 * (one == other)


def _among(values: Floats, labels: Flags, counts: NDArray[np.int_]) -> float:
    """The AUC over pairs of answers whose references have as many facts."""
    found = [
        _above(values[other], values[one])
        for one in np.flatnonzero(labels)
        for other in np.flatnonzero(~labels)
        if counts[one] == counts[other]
    ]
    return float(np.mean(found))


def splits(scores: Mapping[str, Floats], labels: Flags) -> None:
    """Print the AUC on questions that the choice of the score has not seen, and there of each score."""
    chosen: Counter[str] = Counter()
    of_chosen: list[float] = []
    of_each: dict[str, list[float]] = {name: [] for name in scores}
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(labels))
        held, seen = np.split(order, [int(LEFT_OUT * len(labels))])
        best = max(scores, key=lambda name: auc(-scores[name][seen], labels[seen]))
        chosen[best] += 1
        of_chosen.append(auc(-scores[best][held], labels[held]))
        for name, values in scores.items():
            of_each[name].append(auc(-values[held], labels[held]))
    print(
        f"{SPLITS} splits, a fifth of the questions held out: chosen on the others {np.mean(of_chosen):.3f}"
    )
    print("  chosen:", ", ".join(f"{name} {count}" for name, count in chosen.most_common()))
    for name, found in of_each.items():
        print(f"  {name}: {np.mean(found):.3f}")


def plain_shares(each: Texts, cut: Callable[[str], Sequence[str]], *, named: int, window: int) -> Floats:
    """Shares of facts by another implementation, with other ways to cut, weigh and look."""
    key = {term for fact in facts_of(each.reference) for term in fact.key} if named > 1 else set()
    sentences = [set(terms(sentence)) for sentence in split_sentences(each.answer)]
    if not window:
        windows = [set().union(*sentences)]
    elif window == 1 or len(sentences) < 2:
        windows = sentences or [set()]
    else:
        windows = [one | other for one, other in pairwise(sentences)]
    shares = []
    for fact in cut(each.reference):
        own = {term: named if term in key else 1 for term in terms(fact)}
        if own:
            found = max(sum(weight for term, weight in own.items() if term in said) for said in windows)
            shares.append(found / sum(own.values()))
    return np.array(shares or [0.0])


def _combined(combine: Combine, found: Found) -> float:
    return combine(found[1])


def main(data: Path) -> None:
    """Print every figure."""
    answers, labels, corrected, pairs = items_of(data)
    print(f"QA-Feedback, {len(labels)} answers, {labels.sum()} of which lack something")
    print("| score | AUC | among as many facts | corrected above | preferred above | mean |")
    scored = by_metric(answers)
    counts = np.array([len(shares) for _, shares, _ in scored])
    after = by_metric([each for each in corrected if each is not None])
    queue = iter(after)
    fixed = [None if each is None else next(queue) for each in corrected]
    sides = by_metric([pair[0] for pair in pairs]), by_metric([pair[1] for pair in pairs])
    everything: list[tuple[str, Callable[[Found], float]]] = [
        ("the metric", itemgetter(0)),
        *((name, partial(_combined, combine)) for name, combine in SCORES.items()),
    ]
    kept: dict[str, Floats] = {}
    for name, read in everything:
        values = np.array([read(found) for found in scored])
        if name != "the metric":
            kept[name] = values
        report(
            name,
            values,
            labels,
            counts,
            [None if found is None else read(found) for found in fixed],
            [(read(a), read(b), pair[2]) for a, b, pair in zip(*sides, pairs, strict=True)],
        )
    print(f"the number of facts alone: AUC {auc(counts.astype(float), labels):.3f}")
    splits(kept, labels)
    for name, those in (("as answered", scored), ("as corrected", after)):
        states = Counter(state for _, _, own in those for state in own)
        print(f"facts {name}:", {state: round(count / states.total(), 3) for state, count in states.items()})
    print("other ways to cut and to weigh, 1 / (1 + missing squared):")
    ways: Mapping[str, Callable[[str], Sequence[str]]] = {
        "facts as they are": lambda text: [fact.text for fact in facts_of(text)],
        "sentences": split_sentences,
        "clauses at ; : –": lambda text: [
            part for one in split_sentences(text) for part in split_clauses(one)
        ],
        "clauses at commas too": lambda text: [
            part for one in split_sentences(text) for part in FINE.split(one)
        ],
    }
    squared = SCORES["1 / (1 + missing squared)"]
    for name, cut in ways.items():
        for named, window in ((2, 2), (1, 2), (2, 1), (2, 0)):
            values = np.array(
                [squared(plain_shares(each, cut, named=named, window=window)) for each in answers]
            )
            where = {0: "in the whole answer", 1: "in a sentence", 2: "in two neighbouring sentences"}[window]
            print(f"  {name}, names and figures x {named}, {where}: {auc(-values, labels):.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
