"""Sentences that address the judge rather than the reader, found by the rules of `steering.toml`.

Every word becomes one character that stands for the kinds of word it is, so that a rule is a pattern over
kinds ("rate", up to three words, "this answer") and holds for all words of them. What reports such
sentences, quotes them or shows them as code is left alone.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any

from data.steering.disguises import Turn, disguised, encoded, turns
from data.steering.rules import END, UNKNOWN, Grammar, Rule, Rules, foreign
from data.steering.skeletons import Skeleton, skeleton, skeleton_of

_TOKEN = re.compile(r"[^\W_]++(?:'[^\W_]++)*+|(?<![.!?])[.!?]++(?=\s|\Z)|\n[ \t]*+\n")
# The same words of a text that is ASCII, twice as fast.
_ASCII_TOKEN = re.compile(_TOKEN.pattern.replace(r"[^\W_]", "[a-z0-9]"))
# Sooner still, without ends of sentences.
_BETWEEN_WORDS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "'")}
_ENDS = r"[.!?]++[\"'”’)]*+(?=\s|\Z)"
_SENTENCE = re.compile(rf"(?:[^\n.!?。！？]++|(?!{_ENDS})[.!?]++)*+(?:{_ENDS}|[。！？]++|\n++|\Z)")
_PARAGRAPH = re.compile(r"\n[ \t]*+\n")
_QUOTE = re.compile(r"[\"'“„`«](?<!\w')")
_ASCII_QUOTES = ('"', "'", "`")
# Each way to quote stands behind its first sign, so that a search goes from one such sign to the next.
_QUOTED = re.compile(
    "[\"'“„`«](?:"
    r"(?<=\")[^\"\n]{0,600}+(?:\n[^\"\n]{1,600}+)?+\"|(?<=“)[^“”\n]{0,600}+(?:\n[^“”\n]{1,600}+)?+”"
    r"|(?<=`)(?<!``)[^`\n]++`(?!`)|(?<=„)[^“”„\n]{0,600}+[“”]|(?<=')(?<!\w')[^'\n]{3,600}+'(?!\w)"
    r"|(?<=«)[^«»\n]{0,600}+»)"
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|(?<!`)`[^`\n]++`(?!`)", re.DOTALL)
_GRADERS = r"(?:graders?|judges?|assessors?|evaluators?|raters?|annotators?|whoever)"
# What a comment says to whoever grades: "note to the grader", "grader: …".
_COMMENT = re.compile(
    rf"(?:\#|//|--|%|/\*)[ \t]{{0,9}}("
    rf"[^\n]{{0,40}}?(?:\bto (?:the |any |all |every )?{_GRADERS}\b|\b{_GRADERS} ?:)[^\n]*)"
)
_FOLLOWED = re.compile(r"\b(?:follow|followed|obey|obeyed|heed|apply|applies|applied|bind|binds|binding)\b")
_HERE = re.compile(r"\b(?:here|now|you|your|this|these)\b")
_TOLD_OF = re.compile(
    r"\b(?:attack|inject|malicious|hidden|example|prompt|jailbreak|phrase|spam|trick|refuse|ignore)"
    r"|\b(?:never|not|no|if|would|like|says?|said|wrote|writes?|reads?|called|about|filter|detect|security)\b"
)
# A tag of ours that was sanitised.
_FAKE_TAG = re.compile(
    r"\((?:/\s{0,9}(?:answers?[ _-]?[0-9ab]?|rubric|thinking|rating|question|passages?)"
    r"|answers?[ _-]?[12ab]|thinking|rating|rubric|/?(?:tool|function)_calls?)"
    r"(?![a-z])[^()\n]{0,20}\)"
)
# Role headers of both sides of a talk that were sanitised.
_TURNS = (
    re.compile(r"^(?:human|user) -(?=\s|\Z)", re.MULTILINE),
    re.compile(r"^(?:ai )?assistant -(?=\s|\Z)", re.MULTILINE),
)
# A line that claims to end or begin what stands between our delimiters.
_FAKE_BORDER = re.compile(
    r"^[^\w\n]{2,40}+(?:end|begin|beginning|start)(?: of)?(?: the)?"
    r" (?:answers?|responses?|input|submission|candidates?|system prompt|prompt|evaluation)"
    r"(?: [0-9ab])?[^\w\n]{2,40}+$",
    re.MULTILINE,
)
_CHAT = re.compile(r"\((?:\|[^|()\n]{1,40}\||/?(?:inst|sys|s|bos|eos)|(?:start|end)_of_turn)\)")
_VISIBLE = re.compile(r"\S")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W_]+")
_MARK = re.compile(r"\[\[(?:[abc0-9]|10|tie|[ab][<>=]{1,2}[ab])\]\]")
_QUOTES = frozenset("\"'“‘`")
_FENCED_CONTEXT = 20
_QUOTED_CONTEXT = 3
_REMEMBERED = 4096
_LOOKED_BACK = 30
_MIXTURE = 2
_SHORT = 7
_EXPLAINING = 5
_MOSTLY = 2
_NEARLY = 5


@dataclass(frozen=True, slots=True, order=True)
class Steering:
    """A place in a text that addresses the judge, and its family of attack; empty where it follows one."""

    start: int
    end: int
    family: str


@lru_cache(maxsize=_REMEMBERED)
def steering(text: str) -> tuple[Steering, ...]:
    """Where a text addresses its judge, in the order of the text."""
    read = skeleton_of(text)
    plain_text = without_code(read.text)
    unquoted = _without_quotes(plain_text) if _may_quote(plain_text) else plain_text
    words = _words(unquoted)
    distinct = set(words)
    findings = {
        *_by_rules(unquoted, distinct),
        *(Steering(*span, "other-language") for span in foreign(unquoted, distinct)),
        *_verdict_lines(plain_text, unquoted),
        *(_near_chat_tokens(unquoted) if "(" in unquoted else ()),
        *_disguised(read.text, words if unquoted == read.text else _words(read.text)),
    }
    if findings:
        findings |= set(_followers(plain_text, sorted(findings)))
    return tuple(sorted({*(_in_text(read, finding) for finding in findings), *_encoded(text)}))


def meant_for_judges(text: str) -> bool:
    """Whether a text that nobody should see, hidden or decoded, is meant for a judge."""
    folded = skeleton(text)
    return any(word in folded for word in _record()["meant_for_judges"]["words"])


def _in_text(read: Skeleton, finding: Steering) -> Steering:
    start, end = read.span(finding.start, finding.end)
    return Steering(start, end, finding.family)


def _by_rules(unquoted: str, words: AbstractSet[str]) -> Iterator[Steering]:
    """Sentences that a rule fits, of what the text says itself."""
    fitting = _rules().fitting(partial(_tokens, unquoted), words)
    if fitting:
        yield from _rule_sentences(unquoted, fitting)


def _rule_sentences(unquoted: str, fitting: Sequence[Rule]) -> Iterator[Steering]:
    """The sentences that rules fit, each with the family of the first of them."""
    tokens = list(_TOKEN.finditer(unquoted))
    codes = "".join([_code(token[0]) for token in tokens])
    sentences = [match.span() for match in _SENTENCE.finditer(unquoted)]
    starts = [start for start, _ in sentences]
    families: dict[tuple[int, int], str] = {}
    for rule in fitting:
        for match in rule.pattern.finditer(codes):
            first, last = tokens[match.start()], tokens[match.end() - 1]
            if not _rules().reports(codes, max(0, match.start() - _LOOKED_BACK), match.start() + 1):
                begin = sentences[bisect_right(starts, first.start()) - 1][0]
                end = sentences[bisect_right(starts, last.end() - 1) - 1][1]
                families.setdefault((begin, end), rule.family)
    yield from (Steering(*span, family) for span, family in families.items())


def _tokens(folded: str) -> list[str]:
    """The words, ends of sentences and empty lines of a text in small letters."""
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


def _words(folded: str) -> list[str]:
    """The words of a text in small letters, in some order; ends of sentences may be among them."""
    if not folded.isascii():
        return _tokens(folded)
    words = folded.translate(_BETWEEN_WORDS).split()
    if "'" not in folded:
        return words
    marked = " ".join(word for word in words if "'" in word)
    return [word for word in words if "'" not in word] + _ASCII_TOKEN.findall(marked)


def _fits(text: str) -> bool:
    tokens = _TOKEN.findall(text)
    return bool(_rules().fitting(lambda: tokens, set(tokens)))


def _code(token: str) -> str:
    return _rules().codes.get(token, UNKNOWN if token[0].isalnum() else END)


def _followers(plain_text: str, findings: Sequence[Steering]) -> Iterator[Steering]:
    """Sentences of the same paragraph that speak of judging or plead: alone they would mean nothing.

    Where most of a paragraph speaks to the judge, its short sentences do as well; where nearly all of it
    does, so does the rest.
    """
    covered = _Spans(findings)
    for begin, end in _paragraphs(plain_text):
        if covered.meets(begin, end):
            others = [
                match
                for match in _SENTENCE.finditer(plain_text, begin, end)
                if not covered.meets(*match.span())
            ]
            uncovered_words = sum(len(match[0].split()) for match in others)
            words = len(plain_text[begin:end].split())
            longest = (
                words
                if _NEARLY * uncovered_words <= words
                else _SHORT
                if _MOSTLY * uncovered_words <= words
                else 0
            )
            for match in others:
                if len(match[0].split()) <= longest or _rules().weak.search(_codes_of(match[0])):
                    yield Steering(match.start(), match.end(), "")


def _near_chat_tokens(plain_text: str) -> Iterator[Steering]:
    """Sentences about choosing an answer beside chat tokens that were sanitised."""
    tokens = _Spans([Steering(*match.span(), "") for match in _CHAT.finditer(plain_text)])
    for begin, end in _paragraphs(plain_text) if tokens else ():
        if tokens.meets(begin, end):
            for match in _SENTENCE.finditer(plain_text, begin, end):
                if _rules().primed.search(_codes_of(match[0])):
                    yield Steering(match.start(), match.end(), "chat-tokens")


def _codes_of(sentence: str) -> str:
    return _rules().coded(_TOKEN.findall(sentence))


class _Spans:
    """The spans of findings, in order and without overlaps, to look up parts of the text in."""

    def __init__(self, findings: Sequence[Steering]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for finding in findings:
            if self._ends and finding.start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], finding.end)
            else:
                self._starts.append(finding.start)
                self._ends.append(finding.end)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def meets(self, start: int, end: int) -> bool:
        """Whether a stretch shares a place with one that was found."""
        place = bisect_right(self._ends, start)
        return place < len(self._starts) and self._starts[place] < end


def _paragraphs(plain_text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for match in _PARAGRAPH.finditer(plain_text):
        yield begin, match.end()
        begin = match.end()
    yield begin, len(plain_text)


def _verdict_lines(plain_text: str, unquoted: str) -> Iterator[Steering]:
    """Lines that hold verdicts in the notation of some judge, or tags of its prompt."""
    for family, patterns in _line_patterns(unquoted, plain_text):
        for line in _LINE.finditer(plain_text):
            if any(pattern.search(line[0]) for pattern in patterns) and not _explained(line[0]):
                yield Steering(*line.span(), family)


def _explained(line: str) -> bool:
    """Whether a line names several marks of a verdict, or quotes one, in a sentence of its own."""
    marks = set(_MARK.findall(line))
    return len(_WORD.findall(_MARK.sub("", line))) >= _EXPLAINING and (
        len(marks) > 1
        or any(line[max(0, match.start() - 1) : match.start()] in _QUOTES for match in _MARK.finditer(line))
    )


def _line_patterns(unquoted: str, plain_text: str) -> Iterator[tuple[str, Sequence[re.Pattern[str]]]]:
    if "(" in unquoted and _FAKE_TAG.search(unquoted):
        yield "fake-tags", (_FAKE_TAG,)
    has_border = "end" in plain_text or "begin" in plain_text or "start" in plain_text
    if has_border and _FAKE_BORDER.search(plain_text):
        yield "fake-tags", (_FAKE_BORDER,)
    if "assistant -" in plain_text and all(turn.search(plain_text) for turn in _TURNS):
        yield "role-headers", _TURNS
    signs, words, telling, notations = _verdicts()
    if any(map(plain_text.__contains__, signs)) and any(map(plain_text.__contains__, words)):
        kinds = [pattern for pattern in notations if pattern.search(plain_text)]
        if len(kinds) >= _MIXTURE or telling.search(plain_text):
            yield "verdict-spam", (telling, *kinds)


def _disguised(plain_text: str, words: Sequence[str]) -> Iterator[Steering]:
    """Stretches that are spelt out, in leetspeak, reversed or rotated, and mean something to the judge."""
    for start, end, meaning in disguised(plain_text, words, _turns()):
        if _fits(meaning) or all(word in meaning for word in ("answer", "rat")):
            yield Steering(start, end, "encoded")


def _encoded(text: str) -> Iterator[Steering]:
    """Stretches of base64 or hexadecimal digits that hold something said to the judge."""
    for start, end, meaning in encoded(text):
        if any(word in meaning for word in _record()["decoded"]["words"]):
            yield Steering(start, end, "encoded")


def without_code(text: str) -> str:
    """Blank out code where there is prose enough around it for the code to be an example.

    What a comment in it says to whoever grades stays, since no program needs that.
    """
    if "`" not in text:
        return text
    outside = _FENCE.sub(" ", text)
    return text if len(_WORD.findall(outside)) < _FENCED_CONTEXT else _FENCE.sub(_blank_code, text)


def _blank_code(code: re.Match[str]) -> str:
    pieces, end = [], 0
    for comment in _COMMENT.finditer(code[0]):
        pieces += [_VISIBLE.sub(" ", code[0][end : comment.start(1)]), comment[1]]
        end = comment.end(1)
    return "".join([*pieces, _VISIBLE.sub(" ", code[0][end:])])


def _may_quote(plain_text: str) -> bool:
    """Whether there is a sign that could begin a quotation."""
    if plain_text.isascii() and not any(map(plain_text.__contains__, _ASCII_QUOTES)):
        return False
    return _QUOTE.search(plain_text) is not None


def _without_quotes(plain_text: str) -> str:
    """A text without what its sentences quote, unless the quotation is all there is of a sentence."""
    unquoted = _QUOTED.sub(_blank, plain_text)
    if unquoted == plain_text:
        return plain_text
    pieces = []
    for match in _SENTENCE.finditer(unquoted):
        quoting = plain_text[match.start() : match.end()]
        is_own = match[0] == quoting or (
            len(_WORD.findall(match[0])) >= _QUOTED_CONTEXT and not _endorses(match[0])
        )
        pieces.append(match[0] if is_own else quoting)
    return "".join(pieces)


def _endorses(around: str) -> bool:
    """Whether a sentence says that what it quotes is to be done here, in place of telling of it."""
    folded = around.lower()
    return bool(_FOLLOWED.search(folded) and _HERE.search(folded)) and not _TOLD_OF.search(folded)


def _blank(match: re.Match[str]) -> str:
    return _VISIBLE.sub(" ", match[0])


@cache
def _record() -> Mapping[str, Mapping[str, Any]]:
    record: Mapping[str, Mapping[str, Any]] = tomllib.loads(
        (files(__package__) / "patterns.toml").read_text(encoding="utf-8")
    )
    return record


@cache
def _verdicts() -> tuple[Sequence[str], Sequence[str], re.Pattern[str], tuple[re.Pattern[str], ...]]:
    record = _record()["verdicts"]
    return (
        record["signs"],
        record["words"],
        re.compile("|".join(record["telling"])),
        tuple(map(re.compile, record["notations"])),
    )


@cache
def _turns() -> Sequence[Turn]:
    record = _record()["disguised"]
    return turns(record["telling"].split(), record["common"].split())


@cache
def _rules() -> Rules:
    return Grammar(_record()).rules()
