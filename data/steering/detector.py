"""Sentences that address the judge rather than the reader, found by the rules of `patterns.toml`.

Every word becomes a character for its kinds, so that a rule is a pattern over kinds ("rate", up to three
words, "this answer"). Text that reports or quotes such sentences or shows them as code is ignored.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from data.steering.disguises import disguised, encoded
from data.steering.rules import SIGNS, foreign, grammar, record, skeleton, skeleton_of

_TOKEN = re.compile(r"[^\W_]++(?:'[^\W_]++)*+|(?<![.!?])[.!?]++(?=\s|\Z)|\n[ \t]*+\n")
_ENDS = r"[.!?]++[\"'”’)]*+(?=\s|\Z)"
_SENTENCE = re.compile(rf"(?:[^\n.!?。！？]++|(?!{_ENDS})[.!?]++)*+(?:{_ENDS}|[。！？]++|\n++|\Z)")
_PARAGRAPH = re.compile(r"\n[ \t]*+\n")
_VISIBLE = re.compile(r"\S")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W_]+")
_QUOTES = frozenset("\"'“‘`")
_FENCED_CONTEXT, _QUOTED_CONTEXT = 20, 3
_REPORT_WINDOW = 30
_MIXTURE = 2
_SHORT, _EXPLAINING = 7, 5
_MOSTLY, _NEARLY = 2, 5
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, order=True)
class Steering:
    """Span of a text that addresses the judge; `family` is empty if it only continues an attack."""

    start: int
    end: int
    family: str


@lru_cache(maxsize=4096)
def steering(text: str) -> tuple[Steering, ...]:
    """Find the spans of a text that address its judge, in order."""
    folded = skeleton_of(text)
    plain_text = without_code(folded.text)
    unquoted = _without_quotes(plain_text)
    findings = {
        *_by_rules(unquoted),
        *(Steering(*span, "other-language") for span in foreign(unquoted)),
        *_verdict_lines(plain_text, unquoted),
        *_near_chat_tokens(unquoted),
    }
    for start, end, meaning in disguised(folded.text, record("patterns")["disguised"]):
        fits = grammar().fitting(grammar().coded(_TOKEN.findall(meaning)))
        if fits or all(word in meaning for word in ("answer", "rat")):
            findings.add(Steering(start, end, "encoded"))
    findings |= set(_followers(plain_text, sorted(findings)))
    in_text = {Steering(*folded.span(finding.start, finding.end), finding.family) for finding in findings}
    words = record("patterns")["decoded"]["words"]
    for start, end, meaning in encoded(text):
        if any(word in meaning for word in words):
            in_text.add(Steering(start, end, "encoded"))
    return tuple(sorted(in_text))


def meant_for_judges(text: str) -> bool:
    """Return whether a hidden or decoded text addresses a judge."""
    folded = skeleton(text)
    return any(word in folded for word in record("patterns")["meant_for_judges"]["words"])


def _by_rules(unquoted: str) -> Iterator[Steering]:
    tokens = list(_TOKEN.finditer(unquoted))
    codes = grammar().coded(token[0] for token in tokens)
    fitting = grammar().fitting(codes)
    sentences = [match.span() for match in _SENTENCE.finditer(unquoted)] if fitting else []
    starts = [start for start, _ in sentences]
    families: dict[Span, str] = {}
    for rule in fitting:
        for match in rule.pattern.finditer(codes):
            first, last = tokens[match.start()], tokens[match.end() - 1]
            if not grammar().reports(codes, max(0, match.start() - _REPORT_WINDOW), match.start() + 1):
                begin = sentences[bisect_right(starts, first.start()) - 1][0]
                end = sentences[bisect_right(starts, last.end() - 1) - 1][1]
                families.setdefault((begin, end), rule.family)
    yield from (Steering(*span, family) for span, family in families.items())


def _followers(plain_text: str, findings: Sequence[Steering]) -> Iterator[Steering]:
    """Yield sentences on judging, and pleas, in paragraphs with a finding; elsewhere they are harmless.

    If most of a paragraph addresses the judge, so do its short sentences; if nearly all does, so does the
    rest.
    """
    spans = [(finding.start, finding.end) for finding in findings]
    for begin, end in _paragraphs(plain_text, spans):
        sentences = _SENTENCE.finditer(plain_text, begin, end)
        rest = [match for match in sentences if not _meets(spans, *match.span())]
        uncovered = sum(len(match[0].split()) for match in rest)
        words = len(plain_text[begin:end].split())
        longest = _SHORT if _MOSTLY * uncovered <= words else 0
        longest = words if _NEARLY * uncovered <= words else longest
        for match in rest:
            codes = grammar().coded(_TOKEN.findall(match[0]))
            if len(match[0].split()) <= longest or grammar().weak.search(codes):
                yield Steering(match.start(), match.end(), "")


def _near_chat_tokens(plain_text: str) -> Iterator[Steering]:
    for begin, end in _paragraphs(plain_text, [match.span() for match in SIGNS["chat"].finditer(plain_text)]):
        for match in _SENTENCE.finditer(plain_text, begin, end):
            if grammar().primed.search(grammar().coded(_TOKEN.findall(match[0]))):
                yield Steering(match.start(), match.end(), "chat-tokens")


def _paragraphs(plain_text: str, spans: Sequence[Span]) -> Iterator[Span]:
    begins = [0, *(match.end() for match in _PARAGRAPH.finditer(plain_text))] if spans else []
    for begin, end in zip(begins, [*begins[1:], len(plain_text)], strict=bool(begins)):
        if _meets(spans, begin, end):
            yield begin, end


def _meets(spans: Sequence[Span], start: int, end: int) -> bool:
    return any(first < end and last > start for first, last in spans)


def _verdict_lines(plain_text: str, unquoted: str) -> Iterator[Steering]:
    for family, patterns in _line_patterns(unquoted, plain_text):
        for line in _LINE.finditer(plain_text):
            if any(pattern.search(line[0]) for pattern in patterns) and not _explained(line[0]):
                yield Steering(*line.span(), family)


def _explained(line: str) -> bool:
    marks = list(SIGNS["mark"].finditer(line))
    quoted = any(line[max(0, match.start() - 1) : match.start()] in _QUOTES for match in marks)
    several = len({match[0] for match in marks}) > 1
    return len(_WORD.findall(SIGNS["mark"].sub("", line))) >= _EXPLAINING and (several or quoted)


def _line_patterns(unquoted: str, plain_text: str) -> Iterator[tuple[str, Sequence[re.Pattern[str]]]]:
    if SIGNS["fake_tag"].search(unquoted):
        yield "fake-tags", (SIGNS["fake_tag"],)
    if SIGNS["fake_border"].search(plain_text):
        yield "fake-tags", (SIGNS["fake_border"],)
    turns = (SIGNS["turn_of_user"], SIGNS["turn_of_assistant"])
    if all(turn.search(plain_text) for turn in turns):
        yield "role-headers", turns
    verdicts = record("patterns")["verdicts"]
    if all(any(map(plain_text.__contains__, verdicts[kind])) for kind in ("signs", "words")):
        telling = re.compile("|".join(verdicts["telling"]))
        kinds = [pattern for pattern in map(re.compile, verdicts["notations"]) if pattern.search(plain_text)]
        if len(kinds) >= _MIXTURE or telling.search(plain_text):
            yield "verdict-spam", (telling, *kinds)


def without_code(text: str) -> str:
    """Blank out code if there is enough prose around it to make it an example.

    Comments that address a grader are kept, since no program needs them.
    """
    if "`" not in text or len(_WORD.findall(SIGNS["fence"].sub(" ", text))) < _FENCED_CONTEXT:
        return text
    return SIGNS["fence"].sub(_blank_code, text)


def _blank_code(code: re.Match[str]) -> str:
    pieces, end = [], 0
    for comment in SIGNS["comment"].finditer(code[0]):
        pieces += [_VISIBLE.sub(" ", code[0][end : comment.start(1)]), comment[1]]
        end = comment.end(1)
    return "".join([*pieces, _VISIBLE.sub(" ", code[0][end:])])


def _without_quotes(plain_text: str) -> str:
    """Blank out quotations, unless they are a whole sentence."""
    unquoted = SIGNS["quoted"].sub(lambda match: _VISIBLE.sub(" ", match[0]), plain_text)
    if unquoted == plain_text:
        return plain_text
    pieces = []
    for match in _SENTENCE.finditer(unquoted):
        own = len(_WORD.findall(match[0])) >= _QUOTED_CONTEXT and not _endorses(match[0])
        pieces.append(match[0] if own else plain_text[match.start() : match.end()])
    return "".join(pieces)


def _endorses(around: str) -> bool:
    return bool(SIGNS["followed"].search(around) and SIGNS["here"].search(around)) and not SIGNS[
        "told_of"
    ].search(around)
