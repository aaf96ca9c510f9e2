"""Answers that decline: they do not know, found nothing or refuse, and answer nothing else.

Words of seven languages are read as classes (`declines.toml`): denials, sources, knowing, telling,
the speaker. Words of the question, figures and names have their own classes. A linear model weighs pairs
of classes in a clause, how clauses follow one another, and sequences of words (`declines.json`,
fitted by `benchmarks/declines.py`; figures in docs/method/declining.md).
"""

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from data.text import is_blank

MAX_CHARACTERS = 1_000
"""A longer text always counts as an answer."""
OPENING = 400
"""A longer text is read in full only if a third of this many characters, at its start or end, may decline."""
REMEMBERED = 4_096

REASONING = "thinking|think|thoughts|thought|reasoning|scratchpad|analysis"
REASONING_END = re.compile(rf"(?i)</(?:{REASONING})>")
REASONING_OPEN = re.compile(rf"(?i)\A\s*+<(?:{REASONING})>")
"""Reasoning that was cut off before the answer."""
RAW_OPEN = re.compile(
    r"<\|channel\|>analysis<\|message\|>|\[THINK\]|◁think▷|<seed:think>|<\|START_THINKING\|>"
)
RAW_CLOSE = re.compile(
    r"<\|channel\|>final<\|message\|>|\[/THINK\]|◁/think▷|</seed:think>|<\|END_THINKING\|>"
)
RAW_END = re.compile(r"<\|(?:return|(?:START|END)_RESPONSE)\|>")
LABELLED_REASONING = re.compile(r"(?is)\A\s*+(?:thinking|thoughts?|reasoning)\s*+:.*?\banswer\s*+:")
WRAPPER = re.compile(r"(?i)</?(?:answer|final_answer|response|output)>|\A\W*(?:final\s+)?answer\W*:")
MARKS = re.compile(r"\[[\d\s,;^-]{1,20}\]|<[^<>]{1,40}>|\*\*|__")
INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
SIGNS = str.maketrans("\u2019\u2018\u02bc\u00b4`", "'" * 5, INVISIBLE)
NOT = re.compile(r"(?i)n't\b")
QUOTE = "\"'\u201c\u201d\u201e\u00ab\u00bb "
QUOTED = re.compile(
    r"(?<!\w)[\"'\u201c\u201e\u00ab]([^\"\u201c\u201d\u201e\u00ab\u00bb]{2,200}?)[\"'\u201d\u201c\u00bb](?!\w)"
)
ACCENTS = re.compile("[\u0300-\u036f]")
WORD = re.compile(r"[^\W_]+")
WORD_OR_SIGN = re.compile(r"[^\W_]+|[.;:,?!]")
STEM = 6
"""A word without a class is cut to this many letters."""
MAX_SEQUENCE = 3
FIRST_WORDS = re.compile(r"\A\W*+\w++(?: \w++)?,\s(?=.*\w)")
UNDONE = re.compile(r"\A(?:un\w{3,}(?:ed|able|t|te[nrs]?|bar(?:e[mnrs]?)?)|(?:in|im)\w{4,}(?:ble|bles))$")
"""Words such as "undated", "unerwahnt" and "introuvable"."""
GERMAN = re.compile(
    r"\b(?:der|die|das|den|dem|des|ist|und|nicht|kein\w*|im|zu[rm]?|sich|ich|auf|ein\w?\w?)\b"
)
CLAUSE_END = re.compile(
    r"(?<=[.!?])[\"')\]*]*\s+|[;\n]+|:\s|\s[-\u2013\u2014]+\s|\u2014"
    r"|,?\s(?=(?:but|however|although|though|yet|aber|jedoch|sondern|obwohl|mais|cependant|toutefois|pero"
    r"|aunque)\b)"
    r"|,\s(?=(?:so|and|they|it|which|therefore|hence|also|daher|sodass|donc|por lo|pues|porque|et|y|und)\b)"
)

SAME = {"LACK": "NEG", "UNK": "NEG", "LACKq": "NEGq", "UNKq": "NEGq", "DOC": "SRC", "DOCq": "SRCq"}
DENIED = frozenset(("n", "N", "tn", "tN"))
EMPTY = ("none", "null")
SIGNS_THAT_ANSWER = ("Sm", "Sc")
"""Mathematical and currency signs, which can be an answer without words."""
CUES = frozenset(["NEG", "SRC", "SORRY", "OFFER", "ACCESS", "I", "INFO", "YOU"])
OPENING_CUES = frozenset(["I", "SRC", "SORRY", "ACCESS"])
DENIALS = frozenset({"NEG", "LACK", "UNK"})  # Classes that `SAME` merges.
DECLINING = DENIALS | {"ONLY", "END", "OFFER", "SORRY", "ACCESS", "YOU", "SPECULATE", "WITHOUT"}
SUBJECTS = ("I", "SRC", "SRCq", "ATTR", "Q", "INFO", "YOU", "IT")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its words, its kind (`wh`, `yes`, `why`, `other`, `none`) and what it asks for."""

    words: frozenset[str]
    kind: str
    wants: str
    marks: tuple[str, ...]


@lru_cache(maxsize=REMEMBERED)
def declines(answer: str, question: str) -> bool:
    """Return whether an answer declines: it says that it has no answer, and states nothing else.

    Reasoning and answer wrappers are removed first; a text that becomes empty also declines.
    """
    text = without_reasoning(answer)
    if len(text) > MAX_CHARACTERS:
        return False
    text = WRAPPER.sub(" ", text.translate(SIGNS)).strip() if ">" in text or ":" in text else text.strip()
    if len(text) > OPENING and not _may_decline(text):
        return False
    words = " ".join(WORD.findall(fold(text)))
    if not words:
        return is_blank(text) and not any(unicodedata.category(sign) in SIGNS_THAT_ANSWER for sign in text)
    if words in lists().bare:
        return not _takes_bare(words, fold(question))
    if _classes_in(text).isdisjoint(DECLINING):
        return False
    weights = _weights()
    return sum(weights.get(feature, 0.0) for feature in features(text, question)) > weights["threshold"]


def _takes_bare(words: str, question: str) -> bool:
    known = lists()
    if known.wording.search(question) or words in question:
        return True
    return words in EMPTY and bool(known.counting.search(question))


def with_plain_marks(text: str) -> str:
    """Replace the marks of reasoning in a model's raw output with tags."""
    if text.lstrip()[:2] in {"<|", "[T", "◁t", "<s"}:
        return RAW_END.sub("", RAW_CLOSE.sub("</think>", RAW_OPEN.sub("<think>", text)))
    return text


def without_reasoning(text: str) -> str:
    """Return the part of a text after the model's reasoning."""
    text = with_plain_marks(text)
    ends = [match.end() for match in REASONING_END.finditer(text)] if "</" in text else []
    text = text[ends[-1] :] if ends else text
    if REASONING_OPEN.match(text):  # It was cut off before the answer.
        return ""
    labelled = LABELLED_REASONING.match(text)
    return text[labelled.end() :] if labelled else text


def _may_decline(text: str) -> bool:
    opening = _classes_in(text[: OPENING // 3])
    if opening.isdisjoint(OPENING_CUES):
        return False
    end = _classes_in(text[-OPENING // 3 :])
    return not opening.isdisjoint(DENIALS) or not (end.isdisjoint(DENIALS) or end.isdisjoint(SUBJECTS))


def _classes_in(text: str) -> set[str]:
    words = WORD.findall(NOT.sub(" not", fold(text)))
    return {name for word in words for name in classes(word)}


@cache
def _weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(Path(__file__).with_suffix(".json").read_bytes())
    return weights


class Lists:
    """Word lists: classes of whole words and prefixes, expressions, whole answers."""

    def __init__(self) -> None:
        read = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
        self.words: dict[str, tuple[str, ...]] = dict.fromkeys(read["function"].split(), ())
        self.stems: dict[str, tuple[str, ...]] = {}
        for names, entries in read["classes"].items():
            for word in entries.split():
                table, bare = (self.stems if word.endswith("*") else self.words), word.rstrip("*")
                table[bare] = tuple(dict.fromkeys((*table.get(bare, ()), *names.split())))[:2]
        self.bare = frozenset(read["bare"].strip().splitlines())
        self.closed, self.in_question, self.predicates = (
            frozenset(read[name].split()) for name in ("closed", "in_question", "predicates")
        )
        self.saying, self.counting, self.wording, self.figure, self.name, self.why = (
            re.compile(rf"\b(?:{'|'.join(read[name].split())})\w*")
            for name in ("saying", "counting", "wording", "figure", "name", "why")
        )


lists = cache(Lists)


@lru_cache(maxsize=1 << 15)
def classes(word: str) -> tuple[str, ...]:
    """Return the classes of a folded word: none for a function word, X for a content word."""
    known = lists()
    if word in known.words:
        return known.words[word]
    for end in range(len(word), 1, -1):
        if word[:end] in known.stems and len(word) - end <= max(3, end - 1):
            return known.stems[word[:end]]
    if UNDONE.match(word):
        return ("UNK",)
    return () if len(word) <= 2 and not word.isdigit() else ("X",)  # noqa: PLR2004


def fold(text: str) -> str:
    """Return a text in lower case without accents."""
    if text.isascii():
        return text.lower()
    return ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()


@lru_cache(maxsize=1 << 15)
def _read(word: str) -> tuple[str, tuple[str, ...], str]:
    """Return a folded word, its classes and its root."""
    folded = fold(word)
    return folded, classes(folded), _root(folded)


def _root(word: str) -> str:
    return word[:5] if len(word) > 5 else word.rstrip("s") if len(word) > 3 else word  # noqa: PLR2004


@lru_cache(maxsize=REMEMBERED)
def asked_by(question: str) -> Asked:
    """Parse a question."""
    folded = NOT.sub(" not", fold(question.translate(SIGNS)))
    words = WORD.findall(folded)
    in_classes = {name for word in words for name in classes(word)}
    kind = (
        "none"
        if not words
        else "yes"
        if words[0] in lists().closed or ("-" in question and words[-1] in {"il", "elle", "elles", "ils"})
        else "why"
        if lists().why.search(folded)
        else "wh"
        if any("WH" in classes(word) for word in words[:4])
        else "other"
    )
    marks = {
        "says": bool(lists().saying.search(folded)) and in_classes.isdisjoint({"SRC", "DOC"}),
        "denies": not DENIALS.isdisjoint(in_classes),
        "and": not {"and", "und", "et", "y", "or", "oder", "ou"}.isdisjoint(words),
        "source": "SRC" in in_classes,
    }
    content_words = frozenset(_root(word) for word in words if classes(word) and "WH" not in classes(word))
    wants = next(
        (name for name in ("figure", "name") if getattr(lists(), name).match(folded.lstrip(" \u00bf"))), ""
    )
    return Asked(content_words, kind, wants, tuple(name for name, present in marks.items() if present))


def features(text: str, question: str) -> set[str]:
    """Return the model's features of an answer."""
    request = asked_by(question)
    out = {f"q:{each}" for each in (request.kind, *request.marks)}
    text = NOT.sub(" not", MARKS.sub(" ", text.translate(SIGNS))).strip()
    out.update(_sequences(text, request.words))
    if len(text) > 2 and text[0] in QUOTE and text[-1] in QUOTE and text.count(text[-1]) <= 2:  # noqa: PLR2004
        out.add(f"quote {'says' in request.marks}")
        text = text.strip(QUOTE)
    else:
        text = QUOTED.sub(" QUOTATION ", text)
    kinds: list[str] = []
    totals = dict.fromkeys("XNP", 0)
    for clause in _clauses(text):
        symbols = [SAME.get(name, name) for name in _symbols(clause, request.words)]
        chain = [name for at, name in enumerate(symbols) if name != "X" or symbols[at - 1 : at] != ["X"]]
        content = sum(map(symbols.count, totals))
        kind = _kind(set(symbols), chain[:3], content)
        if kind == "s":
            totals = {name: count + symbols.count(name) for name, count in totals.items()}
        if chain[:1] == ["SRC"] or chain[:2] == ["GIVEN", "SRC"]:  # Figures in it are not an answer.
            chain = [name if name not in {"N", "P"} else "X" for name in chain]
        here = set(chain)
        fresh = _level(content, (1, 2, 4, 7))
        out.update(here, _pairs(chain) if kind != "s" or not kinds else ())
        out.update(_denial(here, fresh, request.kind) if kind in "nN" else {f"tells {fresh} {kind}"})
        if not kinds:
            out.add(f"{request.kind}^{' '.join(chain[:1])}")
        kinds.append("t" * ("TURN" in here) + kind)
    out.add("clauses " + " ".join(kinds[:4]))
    out |= {f"{name}s {_level(count, (1, 2, 3, 5, 8, 13, 20))}" for name, count in totals.items()}
    given = [name for name in "NP" if totals[name]]
    out.add(f"wants {request.wants or request.kind} {' '.join(given)}")
    if not DENIED.isdisjoint(kinds):
        out |= {f"n q:{mark}" for mark in request.marks}
    return out


def _clauses(text: str) -> Iterator[str]:
    first = FIRST_WORDS.match(text)
    if first:
        yield first[0]
        text = text[first.end() :]
    yield from (part for part in CLAUSE_END.split(text) if part and WORD.search(part))


def _symbols(clause: str, question_words: frozenset[str]) -> Iterator[str]:
    """Yield the classes of the words, with the suffix `q` if the question has the word."""
    german = GERMAN.search(clause)  # German nouns are capitalised but are not names.
    for match in WORD.finditer(clause):
        if match[0] == "QUOTATION":
            yield "QUOTATION"
            continue
        word, names, root = _read(match[0])
        in_question = root in question_words
        named = match.start() > 0 and match[0][0].isupper() and not german
        for name in names:
            if name != "X":
                yield name + "q" if in_question and name in lists().in_question else name
            elif in_question:
                yield "Q"
            else:
                yield "N" if word[0].isdigit() else "P" if named else "X"


def _sequences(text: str, question_words: frozenset[str]) -> Iterator[str]:
    """Yield a text's words and signs, and their pairs and triples; names and figures become kinds."""
    words = ["^"]
    for match in WORD_OR_SIGN.finditer(text):
        word, names, root = _read(match[0])
        if names != ("X",) or not word[0].isalnum():
            words.append(word)
        elif root in question_words:
            words.append("Q")
        elif word[0].isdigit():
            words.append("N")
        else:
            words.append("P" if match.start() > 0 and match[0][0].isupper() else word[:STEM])
    words.append("$")
    for length in range(1, MAX_SEQUENCE + 1):
        yield from ("=" + " ".join(words[at : at + length]) for at in range(len(words) - length + 1))


def _pairs(chain: list[str]) -> Iterator[str]:
    padded = ["^", *chain, "$"]
    for at, first in enumerate(padded):
        for distance, second in enumerate(padded[at + 1 : at + 4]):
            yield f"{first}{'>' if distance == 0 else '>>'}{second}"


def _denial(here: set[str], fresh: int, kind: str) -> Iterator[str]:
    yield f"no {fresh}"
    subjects = here.intersection(SUBJECTS)
    predicates = here & lists().predicates
    for subject in subjects:
        yield from (f"no {subject}", f"no {subject} {fresh}", f"no {subject} {kind}")
        yield from (f"no {subject} {predicate}" for predicate in predicates)
    for predicate in predicates:
        yield from (f"no {predicate}", f"no {predicate} {kind}")
    if here.isdisjoint({"I", "SRC", "ATTR", "INFO"}):
        yield from ("no", f"no {kind}")


def _kind(here: set[str], opening: list[str], content: int) -> str:
    """Return a clause's kind.

    `N` is a denial about the writer or a source, `n` any other; `o` is an offer, `c` mentions the writer or
    sources, `s` states something, `q` only repeats the question.
    """
    if not here.isdisjoint({"NEG", "NEGq"}):
        return "n" if here.isdisjoint({"I", "SRC", "INFO", "ATTR", "ACCESS"}) else "N"
    if "PRO" in here or not {"OFFER", "YOU", "SORRY"}.isdisjoint(opening):
        return "o"
    return "c" if here & CUES else "s" if content else "q"


def _level(count: int, edges: Iterable[int]) -> int:
    return sum(count >= edge for edge in edges)
