"""Seconds for the texts that are known to be worst, on each surface that a stranger's text reaches.

    python benchmarks/hostile.py [--surface check] [--all]

- `check`: a file of 5 MB is checked;
- `lexical`: two answers of 40,000 characters are judged by the embedded judge;
- `prepare`: an answer of 40,000 characters is made ready for a judge (gate, detector, neutralising);
- `reply`: a reply of 40,000 characters is read by each parser;
- `relations`: 40,000 characters are held against passages, as the embedded metrics do.

Without --all the worst of each surface is shown. The limit is 10 s.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import io
import json
import math
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from data.files.question_sets.registry import load_set
from data.models import Question, QuestionSet, Reply
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical.judge import LexicalJudge
from judges.metrics.factuality.embedded import LexicalRelations
from judges.metrics.relations.model import Pair
from judges.pairwise.parsing import read
from judges.pairwise.rendering import Sides
from judges.protection.sanitise import sanitise
from judges.protection.screening import gate, inspect
from judges.spec import ReplyFormat
from submissions.card import check_card
from submissions.check import check_answers

ROOT = Path(__file__).resolve().parents[1]
ANSWER = 40_000
FILE = 5_000_000
LINE = 4_000_000
GIVEN_UP = 60
UNITS = (
    *(
        " ",
        "\n",
        "\t",
        "\r\n",
        "a",
        "1",
        "1,",
        "1.",
        ".",
        ". ",
        "a. ",
        "a\n",
        "A. ",
        "Dr. ",
        "a.b. ",
        "é",
        "中。",
    ),
    *(
        '"',
        '"a',
        "“a",
        "‘a",
        "'a",
        " 'a",
        "«a",
        "`",
        "`a ",
        "**a ",
        "__a ",
        "*",
        "_",
        "(",
        ")",
        "[",
        "[1]",
        "[[a]]",
    ),
    *(
        "<",
        "<a ",
        "</",
        "<<",
        "<!--",
        "<think>",
        "<thinking>",
        "</think>",
        "<rating>",
        "<rating>1",
        "</rating>",
    ),
    *(
        "&",
        "&lt;",
        "&amp;",
        "&#0",
        "\\u003c",
        "{",
        "}",
        '{"a":',
        "[{",
        "thinking: ",
        "answer: ",
        "**Answer:** ",
    ),
    *(
        "is not ",
        "not ",
        "no ",
        "up ",
        "more less ",
        "rise fall cold ",
        "3 cups ",
        "in 1950 ",
        "7 dogs cats ",
        "(a, 1999 ",
    ),
    *(
        "the passages ",
        "there is no answer ",
        "however ",
        "; ",
        ": a b c ",
        " – ",
        "- ",
        "# ",
        "| a ",
        "1) ",
        "x-",
        "a-b ",
        "1-1 ",
    ),
    *(
        "ten ",
        "ten to ",
        "one hundred ",
        "million ",
        "5% ",
        "$5 ",
        "word ",
        "Grant Bankrupt ",
        "\u200b",
        "\u2028",
        "ﷺ",
        "0" * 5000 + " ",
    ),
)


def letters(number: int) -> str:
    """A number as a word without digits."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


# What stands after each word of the passages, by the word's number.
MIXED: dict[str, Callable[[int], str]] = {
    "the passages": lambda _: "",
    "figures": str,
    "years": lambda place: str(1000 + place % 1000),
    "directions": lambda place: ("more", "less", "rise", "fall", "early", "late")[place % 6],
    "negations": lambda place: ("not", "never", "")[place % 3],
    "all of them": lambda place: f"{place} " + ("not", "more", "fall", "5%")[place % 4],
    "short sentences": lambda place: f"x{letters(place)}.",
    "short figures": lambda place: f"{place}.",
    "short denials": lambda place: f"not Y{letters(place)}.",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--surface", choices=tuple(SURFACES))
    parser.add_argument("--all", action="store_true", help="show every text, not the worst alone")
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, give_up)
    print(f"{'surface':<12}{'text':<40}{'seconds':>9}")
    for name, surface in SURFACES.items():
        if given.surface in {None, name}:
            rows = sorted(((timed(work), text) for text, work in surface()), reverse=True)
            for seconds, text in rows if given.all else rows[:3]:
                print(f"{name:<12}{text:<40}{seconds:>9.2f}", flush=True)


def give_up(_number: int, _frame: object) -> None:
    """End what takes too long."""
    raise TimeoutError


def timed(work: Callable[[], object]) -> float:
    """Seconds of processor time that something takes, infinite after a minute by the clock."""
    start = time.process_time()
    signal.alarm(GIVEN_UP)
    try:
        work()
    except TimeoutError:
        return math.inf
    finally:
        signal.alarm(0)
    return time.process_time() - start


def answers() -> Iterator[tuple[str, str]]:
    """Answers of the longest length, each with a name, by themselves and within prose."""
    for unit in UNITS:
        text = (unit * ANSWER)[:ANSWER]
        yield repr(unit[:30]), text
        yield (
            f"{unit[:30]!r} in prose",
            f"The answer is that bread rises 40 percent more. {text[: ANSWER - 60]}!",
        )
    words = " ".join(passage.text for passage in longest().passages).split()
    for name, between in MIXED.items():
        mixed = (f"{word} {between(place)}" for place, word in enumerate(words * 100))
        text = " ".join(islice(mixed, ANSWER // 4))
        yield name, text[:ANSWER]
        yield f"{name}, no stop", text.replace(".", "")[:ANSWER]


def check() -> Iterator[tuple[str, Callable[[], object]]]:
    """Files of 5 MB."""
    questions = demo()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        for name, content in files(questions):
            path.write_bytes(content)
            yield name, lambda: check_answers(path, questions)
    yield "card: keys", lambda: check_card("".join(f"key{n}: a\n" for n in range(200_000)))
    yield "card: as many keys as fit", lambda: check_card("".join(f"{n}: a\n" for n in range(7_000)))
    for opening in ("[", "{", "- ", "? ", "&a [*a, ", "a: ", "'", '"', "|\n "):
        yield f"card: {opening!r}", partial(check_card, (opening * 65_536)[:65_536])


def files(questions: QuestionSet) -> Iterator[tuple[str, bytes]]:
    """Files that are slow to read, each about 5 MB."""
    ids = [question.id for question in questions.questions]
    columns = [f"c{n}" for n in range(600_000)]
    yield "csv: 600,000 columns", ("question_id,answer," + ",".join(columns)).encode()[:LINE]
    yield "csv: one column many times", b"question_id,answer," + b"a," * (LINE // 2 - 20)
    yield "csv: quotes", b"question_id,answer\n" + b'q,"' + b'""' * (FILE // 2)
    yield "csv: empty rows", b"question_id,answer\n" + b",\n" * (FILE // 2)
    yield "csv: open quotes", b"question_id,answer\n" + b'"a\n' * (FILE // 3)
    yield "jsonl: brackets", b"[" * FILE
    yield "jsonl: nested", b'{"a":' * (FILE // 5)
    yield "jsonl: short lines", b"{}\n" * (FILE // 3)
    yield "jsonl: keys", json.dumps({f"k{n}": 0 for n in range(260_000)}).encode() + b"\n"
    yield "jsonl: digits", b'{"question_id": ' + b"1" * 4_000_000 + b"}\n"
    yield "jsonl: fractions", b'{"question_id": 0.' + b"1" * 4_000_000 + b"}\n"
    yield "jsonl: escapes", b'{"answer": "' + b"\\u0041" * 600_000 + b'"}\n'
    yield "json: items", b"[" + b"0," * (FILE // 2)
    yield "json: quotes", b"[" + b'"' * FILE
    yield "json: backslashes", b'["' + b"\\" * FILE
    yield "json: newlines", b"[" + b"\n" * FILE
    yield "json: arrays", b"[" + b"[],{}," * (FILE // 6)
    yield "gzip bomb", gzip.compress(b"a" * 200_000_000)
    for name, text in answers():
        rows = [json.dumps({"question_id": one, "answer": text}, ensure_ascii=False) for one in ids[:120]]
        yield f"answers: {name}", "\n".join(rows).encode()[:FILE]
        yield f"csv cells: {name}", table(ids[:120], text)[:FILE]


def table(ids: list[str], text: str) -> bytes:
    """The same answer to each question, as CSV."""
    stream = io.StringIO()
    csv.writer(stream).writerows([["question_id", "answer"], *([one, text] for one in ids)])
    return stream.getvalue().encode()


def demo() -> QuestionSet:
    """The demo's questions."""
    return load_set(ROOT / "data" / "sets" / "demo").questions


def lexical() -> Iterator[tuple[str, Callable[[], object]]]:
    """Battles of two long answers."""
    question = longest()
    judge = LexicalJudge(load_spec("lexical"))
    for name, text in answers():
        judge_input = JudgeInput(
            battle_id="b", question=question, answer_a=text, answer_b=f"{question.reference} {text}"[:ANSWER]
        )
        yield name, partial(judge.settle, judge_input)


def longest() -> Question:
    """The demo's question with the longest passages."""
    return max(demo().questions, key=lambda one: sum(len(passage.text) for passage in one.passages))


def prepare() -> Iterator[tuple[str, Callable[[], object]]]:
    """Answers on their way to a judge."""
    for name, text in answers():
        sides = Sides(a=text, b=f"{text}x")
        yield name, partial(prepared, sides)


def prepared(sides: Sides) -> tuple[object, ...]:
    """What is done to two answers before a judge sees them."""
    return gate(sides), inspect(sides), sanitise(sides.a)


def replies() -> Iterator[tuple[str, Callable[[], object]]]:
    """Replies of a judge."""
    for name, text in answers():
        yield name, partial(readings, text)


def readings(text: str) -> list[object]:
    """A reply as every format reads it."""
    return [read(reply(text), form) for form in ReplyFormat]


def reply(text: str) -> Reply:
    """A reply that says something."""
    return Reply(key="k", endpoint="e", model="m", text=text)


def relations() -> Iterator[tuple[str, Callable[[], object]]]:
    """Claims against contexts, both of a stranger."""
    for name, text in answers():
        pairs = [Pair(premise=text, hypothesis=text[:2_000]), Pair(premise=text[:2_000], hypothesis=text)]
        yield name, partial(related, pairs)


def related(pairs: list[Pair]) -> object:
    """What the claims of each pair have to do with each other."""
    return asyncio.run(LexicalRelations().relate(pairs, question="Why?"))


SURFACES = {"check": check, "lexical": lexical, "prepare": prepare, "reply": replies, "relations": relations}


if __name__ == "__main__":
    main()
