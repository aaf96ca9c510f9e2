"""Warnings on accepted answer files, such as text aimed at the judge, which is flagged but not removed.

A null system with such text reached 86.5 % on a public board (Zheng et al., 2024, "Cheating automatic LLM
benchmarks"). Judges neutralise it; the warning informs teams and organisers.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from data.citations import citations, removed, unknown_citations
from data.declines import declines
from data.files.tables.columns import Column, column_of
from data.models import Question, Severity
from data.steering.detector import steering
from data.steering.disguises import live_tokens
from data.steering.rules import skeleton_of
from data.text import counted, percent
from submissions.problem_codes import ANSWER_ADVICE, Code, Findings, listed, quoted
from submissions.question_index import normalised
from submissions.row_checks import AcceptedRow

_HIDDEN = re.compile(
    "[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_HIDDEN_IN_USE = "\u200c\u200d\u200e\u200f\u00ad"
"""Joiners, direction marks and soft hyphens, which ordinary text contains too."""


def judge_directed(text: str) -> str:
    """Return the first sentence, tag or role header aimed at a judge, in any spelling, or an empty text."""
    spans = [(finding.start, finding.end) for finding in steering(text) if finding.family]
    read = skeleton_of(text)
    spans += [read.span(start, end) for start, end, _ in live_tokens(read.text)]
    if not spans:
        return ""
    start, end = min(spans)
    return " ".join(text[start:end].split())


def hidden_characters(text: str) -> int:
    """Count the invisible characters of a text, except those of ordinary text."""
    if text.isascii():
        return 0
    return sum(character not in _HIDDEN_IN_USE for character in _HIDDEN.findall(text))


TENTH = 10
ERROR = re.compile(
    r"\A\s*(?:[\[<({]{1,2}(?:error|exception|fail(?:ed|ure)?|timeout)\b.{0,80}?[\]>)}]|(?:error|exception)\s*:"
    r"|error code:? \d{3}|traceback \(most recent call last\)|(?:http|status) ?(?:error|code)?:? [45]\d\d\b"
    r"|(?-i:[A-Za-z_][\w.]{0,80}(?:Error|Exception|Timeout))\s*(?:[:(]|$)"
    r"|[45]\d\d (?:too many|internal|bad gat|serv)|(?:request|connection) (?:timed out|error|failed|refused)"
    r"|rate limit (?:exceeded|reached)|internal server error)",
    re.IGNORECASE,
)
"""Start of an error that a harness wrote in place of an answer."""
LONG_ANSWER = 8_000
"""Length in characters above which an answer is extremely long."""
NEAR_COPY, NEAR_COPIES = 0.8, 0.05
"""Share of an answer's word 5-grams in the reference, and share of such answers in a file."""
SAME_ANSWER = 3
"""Minimum number of questions with the same answer for a warning."""
NO_ANSWER = 0.3
"""Share of answers that decline; below 0.26 for all systems but one in RAG-QA Arena's Table 9."""
LISTED = 10
"""Maximum number of lines, names or texts listed in a warning."""
SHINGLE = 5
"""Number of consecutive words that are compared."""
COMMON = 3
"""Number of consecutive shingles that are compared at once by their common words."""
MAX_MATCHES = 3
"""After this many matches the quick check ends without a result."""

_WORD = re.compile(r"\w+")
_BETWEEN_WORDS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


def copied_share(answer: str, reference: str, least: float = 0.0) -> float:
    """Return the share of an answer's word 5-grams in the reference, 0–1; 0 if below `least`.

    Case, punctuation and citation marks are ignored.
    """
    words = _words(answer)
    if len(words) < SHINGLE:
        return 0.0
    expected = _words(reference)
    if not expected or _differs(words, expected, least):
        return 0.0
    # Counting shared words is cheap and excludes most answers.
    reference_words = set(expected)
    if sum(map(reference_words.__contains__, words)) * 2 < len(words):
        return 0.0
    copied, missing = set(_shingles(expected)), set[tuple[str, ...]]()
    total = len(words) - SHINGLE + 1
    for shingle in _shingles(words):
        if shingle not in copied:
            missing.add(shingle)
            if (total - len(missing)) / total < least:
                return 0.0
    distinct = len(set(_shingles(words)))
    return (distinct - len(missing)) / distinct


def _differs(words: list[str], expected: list[str], least: float) -> bool:
    """Return whether a quick check shows that the copied share is below `least`.

    Three consecutive 5-grams share three words; if the reference lacks these, it lacks all three 5-grams.
    """
    total, reference = len(words) - SHINGLE + 1, f" {' '.join(expected)} "
    shingles, missing, matches = _shingles(words), set[tuple[str, ...]](), 0
    for start in range(0, total, COMMON):
        sharing = tuple(islice(shingles, COMMON))
        if f" {' '.join(words[start + COMMON - 1 : start + SHINGLE])} " in reference:
            matches += 1
            if matches > MAX_MATCHES:
                return False
            continue
        missing.update(sharing)
        if (total - len(missing)) / total < least:
            return True
    return False


def _words(text: str) -> list[str]:
    plain_text = removed(text, citations(text)).casefold()
    # Equal for ASCII text, and twice as fast.
    return plain_text.translate(_BETWEEN_WORDS).split() if plain_text.isascii() else _WORD.findall(plain_text)


def _shingles(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(SHINGLE)), strict=False)


@dataclass(slots=True)
class _Repeated:
    count: int = 0
    lines: list[int] = field(default_factory=list)


class AnswerWarnings:
    """Collects the warnings on the answers of one file."""

    def __init__(self, findings: Findings, *, keep_errors: bool = False) -> None:
        self._findings = findings
        self._keep_errors = keep_errors
        self._answers = 0
        self._errors: list[int] = []
        self._error = ""
        self._copies = 0
        self._texts: dict[bytes, _Repeated] = {}
        self._bare: list[int] = []
        self._citing_none: list[int] = []
        self._unknown_citations = 0
        self.no_answers = 0
        self.with_contexts = 0

    def observe(self, row: AcceptedRow) -> None:
        """Note the warnings on one answer."""
        text = row.answer.answer
        self._answers += 1
        if any(context.text.strip() for context in row.answer.contexts):
            self.with_contexts += 1
        else:
            self._bare.append(row.line)
        self._look_for_persuasion(row.line, text)
        if ERROR.match(text):
            self._errors.append(row.line)
            self._error = self._error or text
        if declines(text, row.question.question):
            self.no_answers += 1
            return
        self._remember(row.line, text)
        if len(text) > LONG_ANSWER:
            message = f"The answer has {len(text):,} characters."
            advice = "Check that this is the text you meant to send; longer answers are rarely better."
            self._findings.add(row.line, Code.LONG_ANSWER, message, advice)
        self._look_for_citations(row)
        self._look_for_copy(row)

    def add_empty(self, number: int) -> None:
        """Count accepted empty answers as declining."""
        self._answers += number
        self.no_answers += number

    def close(
        self, unknown_fields: Mapping[str, int], questions: Sequence[Question], answered: Mapping[str, int]
    ) -> None:
        """Note the warnings on the file as a whole."""
        for name, line in unknown_fields.items():
            message = f"The field {quoted(name)} is ignored."
            is_answer = column_of(name) is Column.ANSWER
            advice = ANSWER_ADVICE if is_answer else "Remove it, or correct its name."
            self._findings.add(line, Code.UNKNOWN_FIELD, message, advice)
        if not self._answers:
            return
        self._close_coverage(questions, answered)
        self._close_contexts()
        self._close_citations()
        self._close_texts()
        self._close_shares()

    def _remember(self, line: int, text: str) -> None:
        key = hashlib.blake2b(normalised(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        repetition = self._texts.setdefault(key, _Repeated())
        repetition.count += 1
        if len(repetition.lines) < LISTED:
            repetition.lines.append(line)

    def _look_for_citations(self, row: AcceptedRow) -> None:
        ids = [passage.id for passage in row.answer.contexts or row.question.passages]
        unknown = unknown_citations(row.answer.answer, ids) if ids else 0
        if unknown:
            self._unknown_citations += unknown
            self._citing_none.append(row.line)

    def _look_for_copy(self, row: AcceptedRow) -> None:
        share = copied_share(row.answer.answer, row.question.reference or "", NEAR_COPY)
        if share >= NEAR_COPY:
            self._copies += 1
            part = percent(share, decimals=0)
            message = f"{part} of the answer is copied word for word from the question's reference."
            advice = "Answers must come from the system; check that no references slipped in."
            self._findings.add(row.line, Code.NEAR_COPY, message, advice)

    def _look_for_persuasion(self, line: int, text: str) -> None:
        phrase = judge_directed(text)
        if phrase:
            message = f"The answer seems to address the judge: {quoted(phrase)}."
            advice = "Judges ignore such text; an organiser may review it."
            self._findings.add(line, Code.JUDGE_DIRECTED, message, advice)
        hidden = hidden_characters(text)
        if hidden:
            message = f"The answer contains {hidden:,} invisible characters."
            self._findings.add(line, Code.HIDDEN_CHARACTERS, message, "Remove them.")

    def _close_coverage(self, questions: Sequence[Question], answered: Mapping[str, int]) -> None:
        for domain, count in Counter(question.domain for question in questions).items():
            number = answered.get(domain, 0)
            if number < count:
                share = percent(number / count, decimals=0)
                message = f"{domain}: {number:,} of {count:,} questions are answered ({share})."
                advice = "Without an answer they count as lost."
                self._findings.add(0, Code.UNANSWERED_QUESTIONS, message, advice)

    def _close_contexts(self) -> None:
        advice = "Add the passages that the system was given: context and faithfulness scores need them."
        if not self.with_contexts:
            self._findings.add(0, Code.NO_CONTEXTS, "No answer has contexts.", advice)
        elif self._bare:
            lines = listed(self._bare, LISTED)
            message = f"{len(self._bare):,} answers have no contexts (lines {lines})."
            self._findings.add(self._bare[0], Code.MISSING_CONTEXTS, message, advice)

    def _close_citations(self) -> None:
        if self._citing_none:
            lines = listed(self._citing_none, LISTED)
            count = f"{self._unknown_citations:,} citations in {len(self._citing_none):,} answers"
            message = f"{count} match no context or passage (lines {lines})."
            advice = "Numbers refer to the answer's contexts from 1, or else to the question's passages."
            self._findings.add(self._citing_none[0], Code.UNKNOWN_CITATIONS, message, advice)

    def _close_texts(self) -> None:
        enough = min(SAME_ANSWER, max(2, self._answers))
        repeated = [repetition for repetition in self._texts.values() if repetition.count >= enough]
        repeated.sort(key=lambda repetition: (-repetition.count, repetition.lines[0]))
        for repetition in repeated[:LISTED]:
            more = (
                f" and {repetition.count - len(repetition.lines):,} more"
                if repetition.count > len(repetition.lines)
                else ""
            )
            lines = ", ".join(map(str, repetition.lines)) + more
            message = f"{repetition.count:,} questions have the same answer (lines {lines})."
            advice = "Check that the system answered each question separately."
            self._findings.add(repetition.lines[0], Code.SAME_ANSWER, message, advice)

    def _close_shares(self) -> None:
        if self._errors:
            many = TENTH * len(self._errors) >= self._answers and not self._keep_errors
            count = f"{len(self._errors):,} of {counted(self._answers, 'answer')}"
            message = f"{count} look like a harness's error message: {quoted(self._error)}."
            advice = "Run them again, or leave them out. If they are answers, use --keep-na."
            severity = Severity.ERROR if many else None
            self._findings.add(self._errors[0], Code.HARNESS_ERROR, message, advice, severity)
        copied = self._copies / self._answers
        if copied > NEAR_COPIES:
            message = f"{percent(copied, decimals=0)} of the answers are near-copies of the reference."
            advice = "Answers must come from the system; an organiser will review this."
            self._findings.add(0, Code.MANY_NEAR_COPIES, message, advice)
        declining = self.no_answers / self._answers
        if declining > NO_ANSWER:
            message = f"{percent(declining, decimals=0)} of the answers say that no answer was found."
            advice = "Check that retrieval and parsing worked; the answers are judged unchanged."
            self._findings.add(0, Code.MANY_NO_ANSWERS, message, advice)
