"""Fit the model that recognises answers that decline, and measure it on the marked answers.

    python benchmarks/declines.py [../shared/data]

It is fitted on phrases written for it (`declines.txt`), on the development half of the marked answers and on
real answers in the folder, which hardly ever decline. The other half is used only for measurement. Without
the folder, nothing is fitted and all marked answers are measured.
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from data.declines import declines, features

HERE = Path(__file__).parent
MODEL = HERE.parent / "data/declines.json"
THRESHOLD = 0.5
MIN_WEIGHT = 0.1
TURNS = {"en": "But ", "de": "Aber ", "fr": "Mais ", "es": "Pero ", "it": "Ma ", "pt": "Mas ", "nl": "Maar "}
CHOICE = re.compile(r"\(([^()|]*+(?:\|[^()|]*+)++)\)")
DRAWS = 12
BARE = ("I don't know.", "No answer found.", "Not mentioned.", "I could not find that.")
SOURCED = ("", "According to the context, ", "Based on the provided passages, ", "The document says that ")
LEADS = ("", "", *SOURCED)
Row = tuple[bool, str, str, float]
"""Label of an answer (true if it declines), its question, text and weight."""


def marked(half: str) -> list[dict[str, str]]:
    """Return the marked answers of one half."""
    with (HERE.parent / f"tests/data/declines_{half}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def phrases() -> dict[str, dict[str, list[list[str]]]]:
    """Return the phrases' fields by language and part."""
    lists: dict[str, dict[str, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    for line in (HERE / "declines.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            _, language, part = line.split()
        elif not line.startswith("# "):
            lists[language][part].append([field.strip() for field in line.replace(" // ", "\n").split(" | ")])
    return lists


def written(chance: random.Random) -> Iterator[Row]:
    """Yield each phrase alone, with a note before or after it, and followed by an answer."""
    for language, of in phrases().items():
        asks = of["questions"]
        notes = [filled(draw, asks, chance)[1] for (note,) in of["notes"] for draw in drawn(note, chance)]
        texts = [
            (part == "declined", *draw.split(" | "), 3 / len(draws) ** 0.5)
            for part in ("declined", "answered")
            for fields in of[part]
            for draws in [drawn(" | ".join(fields), chance)]
            for draw in draws
        ]
        for (template,) in of["declines"]:
            draws = drawn(template, chance)
            for asked, text in (filled(draw, asks, chance) for draw in draws * (1 if len(draws) > 1 else 4)):
                texts.append((True, asked, text, 1))
                texts.append((False, (pick := chance.choice(asks))[0], f"{pick[4]} {text}", 0.2))
        for (template,) in of["partials"]:
            texts += [(False, *filled(draw, asks, chance), 1) for draw in drawn(template, chance)]
        texts += [(False, each[0], lead + each[4], 1) for each in asks for lead in SOURCED]
        for declining, asked, text, times in texts:
            yield declining, asked, text, 0.7 * times
            if len(text) > 25 and text[-1] in ".?!":
                yield declining, asked, f"{text} {chance.choice(notes)}", 0.4
                if declining and chance.random() < 0.4:
                    yield True, asked, f"{chance.choice(notes)} {text}", 0.7
                    yield False, asked, f"{text} {TURNS[language]}{chance.choice(asks)[4]}", 0.7


def filled(template: str, questions: list[list[str]], chance: random.Random) -> tuple[str, str]:
    """Return a question and a template, filled with its phrases and other questions' topics."""
    asked, *other = chance.sample(questions, 3)
    names = dict(zip(("np", "wh", "top", "answer", "src"), asked[1:], strict=True))
    text = template.format(**names, other=other[0][chance.choice((1, 3))], other2=other[1][3])
    return asked[0], text[:1].upper() + text[1:]


def drawn(text: str, chance: random.Random) -> list[str]:
    """Return texts in which each `(a|b)` is replaced by one of its choices."""
    draws = {text: None} if not CHOICE.search(text) else {}
    for _ in range(DRAWS if not draws else 0):
        draw = text
        while CHOICE.search(draw):
            draw = CHOICE.sub(lambda match: chance.choice(match[1].split("|")), draw)
        draws[draw] = None
    return list(draws)


def real(folder: Path, chance: random.Random) -> Iterator[Row]:
    """Yield full or truncated answers of people and models, and bare declines to their questions."""
    rows = []
    for file in sorted(folder.glob("*/*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            names = ("answer", "answer1", "answer2", "answer_a", "answer_b", "gt_answer_1", "gt_answer_2")
            rows += [(row["question"], row[name]) for name in names if row.get("question") and row.get(name)]
    for asked, text in chance.sample(sorted(set(rows)), 12_000):
        sentences = text.split(". ")
        part = ". ".join(sentences[: chance.choice((1, 1, 2, 3, 9))])
        yield False, asked, f"{chance.choice(LEADS)}{part}", 2.0
        yield True, asked, chance.choice(BARE), 0.1


def fit(rows: list[Row]) -> dict[str, float]:
    """Return the weight of each feature, rounded, and the threshold."""
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(dict.fromkeys(features(text, asked), 1) for _, asked, text, _ in rows)
    often = np.flatnonzero(np.asarray((matrix > 0).sum(axis=0)).ravel() > 1)
    model = LogisticRegression(C=0.5, max_iter=1000)
    model.fit(matrix[:, often], [row[0] for row in rows], sample_weight=[row[3] for row in rows])
    weights = zip(vectorizer.get_feature_names_out()[often], model.coef_[0].round(2), strict=True)
    kept = {name: float(weight) for name, weight in weights if abs(weight) >= MIN_WEIGHT}
    return kept | {"threshold": round(THRESHOLD - float(model.intercept_[0]), 3)}


def measure(half: str) -> None:
    """Print precision and recall by language."""
    for language in ("", "de", "en", "es", "fr"):
        rows = [row for row in marked(half) if language in row["language"]]
        told = [(row["kind"] == "decline", declines(row["answer"], row["question"])) for row in rows]
        right, said, are = (sum(map(count, told)) for count in (all, itemgetter(1), itemgetter(0)))
        print(half, language or "all", len(rows), f"precision {right / said:.3f} recall {right / are:.3f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        chance = random.Random(1)
        building = [
            (row["kind"] == "decline", row["question"], row["answer"], 3.0) for row in marked("building")
        ]
        rows = [*building, *written(chance), *real(Path(sys.argv[1]), chance)]
        rows += [(declining, "", text, 0.3) for declining, _, text, _ in rows[::6]]
        MODEL.write_text(json.dumps(fit(rows), separators=(",\n", ":"), sort_keys=True, ensure_ascii=False))
    for half in ("building", "held_out", "unseen"):
        measure(half)
