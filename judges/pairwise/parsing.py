"""Parsers of judges' replies: only a complete, final verdict counts. Judgments store the parser's version."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from data.models import Outcome, Reply
from judges.llm.replies import CUT_OFF, FILTERED, canonical, split_reasoning
from judges.pairwise.literal import VerdictWords
from judges.spec import ReplyFormat

PARSERS = {
    ReplyFormat.RATING: "rating/2",
    ReplyFormat.GRADES: "grades/2",
    ReplyFormat.LOGPROBS: "logprobs/2",
    ReplyFormat.DIGIT_SCAN: "digit-scan/2",
    ReplyFormat.WORDS: "words/2",
}
RATING_WORDS = VerdictWords()
SCAN_DISAGREES = "RAG-QA Arena's digit scan reads another verdict"


class Choice(Enum):
    """Preferred answer of a reply, by position in the prompt."""

    FIRST = 1
    SECOND = 2
    NEITHER = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Parsed reply.

    `margin` is −1…1, positive if the second answer is better; None if the reply has no margin.
    """

    outcome: Outcome
    parser: str
    choice: Choice | None = None
    margin: float | None = None
    grade: str = ""
    rationale: str = ""
    detail: str = ""


_TURN_END = r"<[|｜][\w▁ -]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>"
"""End-of-turn tokens, which some servers leave in the text."""
_TAIL = rf"(?:[\s`*_.]|{_TURN_END})*+\Z"
_AFTER_VERDICT = " \t\r\n\f\v`*_."
_EMPHASIS = " \t\r\n`*_\"'"
_MAX_TURN_END = 50
_LAST_TURN_END = re.compile(rf"(?:{_TURN_END})\Z")
_RATING = re.compile(rf"<rating>([^<>]*+)</rating>{_TAIL}", re.IGNORECASE)
_MAX_RATING = 40
APART = "(apart from the reply) "
_OPEN_REASONING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_REFUSAL = re.compile(
    r"\A\W*(?:i'm sorry|i am sorry|sorry|i apologi[sz]e|i can(?:'t|not| not)|i won't|i will not|"
    r"i'm (?:un|not )able|i am (?:un|not )able|as an ai\b|i must decline)",
    re.IGNORECASE,
)
_GRADES = {
    "better": (Choice.FIRST, -1.0),
    "slightly better": (Choice.FIRST, -0.5),
    "not sure": (Choice.NEITHER, 0.0),
    "tie": (Choice.NEITHER, 0.0),
    "slightly worse": (Choice.SECOND, 0.5),
    "worse": (Choice.SECOND, 1.0),
}
_DIGITS = {"1": (Choice.FIRST, -1.0), "2": (Choice.SECOND, 1.0), "0": (Choice.NEITHER, 0.0)}
_OURS = r"(?:answer|question|reference|passages?)"
_OUR_TAG = re.compile(rf"<\s*+(?:/\s*+)?{_OURS}\b[^<>\n]{{0,80}}(?:>|$)", re.IGNORECASE | re.MULTILINE)
"""A delimiter of our prompt that a model repeats; its number is not a verdict."""
_OUR_MARK = re.compile(rf"\b({_OURS}(?: \d{{1,3}})?) [0-9a-f]{{8}}\b", re.IGNORECASE)


def read(reply: Reply, reply_format: ReplyFormat, words: VerdictWords = RATING_WORDS) -> Reading:
    """Parse a reply: `judged` with a choice, `refused`, or `unreadable` with the reason."""
    if reply_format is ReplyFormat.DIGIT_SCAN:
        return replace(_scan(reply.text), rationale=_parts(reply)[0])
    if reply_format is ReplyFormat.WORDS:
        return _in_words(reply, words)
    rationale, verdict = _parts(reply)
    blank = Reading(outcome=Outcome.UNREADABLE, parser=PARSERS[reply_format], rationale=rationale)
    rating = _final_rating(verdict)
    outcome, detail = _failure(reply, verdict, complete=rating is not None)
    if detail or rating is None:
        return replace(blank, outcome=outcome, detail=detail)
    label = " ".join(rating.lower().strip(_EMPHASIS).split())
    labels = _GRADES if reply_format is ReplyFormat.GRADES else _DIGITS
    if label not in labels:
        return replace(blank, detail=f"the rating {label!r} is not one of {', '.join(labels)}")
    choice, margin = labels[label]
    graded = reply_format is ReplyFormat.GRADES
    soft = _margin(reply) if reply_format is ReplyFormat.LOGPROBS else None
    missing = reply_format is ReplyFormat.LOGPROBS and soft is None
    notes = ["the endpoint gave no log probabilities of the rating"] if missing else []
    if not graded and _scan_disagrees(reply.text, choice):
        notes.append(SCAN_DISAGREES)
    return Reading(
        outcome=Outcome.JUDGED,
        parser=blank.parser,
        choice=choice,
        margin=margin if graded else soft,
        grade=label if graded else "",
        rationale=rationale,
        detail="; ".join(notes),
    )


def _in_words(reply: Reply, words: VerdictWords) -> Reading:
    rationale, rest = _parts(reply, words.opening)
    blank = Reading(outcome=Outcome.UNREADABLE, parser=PARSERS[ReplyFormat.WORDS], rationale=rationale)
    bare = _without_end(rest)
    closing = words.closing.rstrip(_AFTER_VERDICT)
    inner = bare[: len(bare) - len(closing)] if bare.endswith(closing) else ""
    _, opening, word = inner.rpartition(words.opening)
    outcome, detail = _failure(reply, rest, complete=bool(opening), opening=words.opening)
    if detail:
        return replace(blank, outcome=outcome, detail=detail)
    groups = {Choice.FIRST: words.first, Choice.SECOND: words.second, Choice.NEITHER: words.tie}
    choices = {" ".join(word.lower().split()): choice for choice, group in groups.items() for word in group}
    label = " ".join(word.lower().split())
    if label not in choices:
        return replace(
            blank, detail=f"the verdict {label[:_MAX_RATING]!r} is not one of {', '.join(choices)}"
        )
    return replace(blank, outcome=Outcome.JUDGED, choice=choices[label])


def _without_end(text: str) -> str:
    while True:
        text = text.rstrip(_AFTER_VERDICT)
        end = _LAST_TURN_END.search(text[-_MAX_TURN_END:])
        if end is None:
            return text
        text = text[: len(text) - len(end[0])]


def _final_rating(verdict: str) -> str | None:
    match = _RATING.search(verdict)
    rating = match[1].strip() if match else ""
    return rating if match and len(rating) <= _MAX_RATING else None


def _scan_disagrees(text: str, choice: Choice) -> bool:
    # With a single pair of tags both readings agree.
    if text.count("<rating>") == 1 and text.lower().count("rating>") == len(("<rating>", "</rating>")):
        return False
    return _scan(text).choice is not choice


def _parts(reply: Reply, opening: str = "<rating>") -> tuple[str, str]:
    """Return the reasoning of a reply, and the rest.

    Gateways and reasoning parsers may have moved the reasoning out of the text.
    """
    reasons, rest = split_reasoning(reply.text, same_name=True)
    if reasons:
        return "\n".join(reason.strip() for reason in reasons), rest
    before = reply.text.lower().rfind(opening.lower())
    rationale = (reply.text[:before] if before >= 0 else reply.text).strip()
    return rationale or (f"{APART}{reply.thinking}" if reply.thinking else ""), rest


def _failure(reply: Reply, verdict: str, *, complete: bool, opening: str = "<rating>") -> tuple[Outcome, str]:
    finish = canonical(reply.finish_reason)
    declines = opening.lower() not in reply.text.lower() and _REFUSAL.match(
        verdict.strip().replace("\u2019", "'")
    )
    incomplete = opening.lower().rstrip(">") in verdict.lower()
    unreadable = Outcome.UNREADABLE
    checks = (
        (finish == FILTERED, Outcome.REFUSED, f"the endpoint filtered it ({reply.finish_reason})"),
        (declines, Outcome.REFUSED, "the reply declines to judge"),
        (finish == CUT_OFF, unreadable, "the reply was cut off at its token limit"),
        (not reply.text.strip(), unreadable, "the reply is empty"),
        (_OPEN_REASONING.search(verdict), unreadable, "the reasoning is not closed, so no verdict is final"),
        (complete, Outcome.JUDGED, ""),
        (incomplete, unreadable, "the rating is incomplete or not at the reply's end"),
        (True, unreadable, "the reply ends without a rating"),
    )
    return next((outcome, detail) for applies, outcome, detail in checks if applies)


def _scan(text: str) -> Reading:
    """Read like RAG-QA Arena: the highest of 0, 1, 2 anywhere in the rating, else a tie.

    Our own tags and marks in the reply are removed first. Without a rating it scans the whole reply.
    """
    start, end = text.find("<rating>"), text.rfind("</rating>")
    rating = text[start:end] if 0 <= start < end else ""
    digits = _OUR_MARK.sub(r"\1", _OUR_TAG.sub(" ", rating if _DIGIT.search(rating) else text))
    digit = max((digit for digit in "012" if digit in digits), default="0")
    parser = PARSERS[ReplyFormat.DIGIT_SCAN]
    return Reading(outcome=Outcome.JUDGED, parser=parser, choice=_DIGITS[digit][0])


def _margin(reply: Reply) -> float | None:
    """Return P(second) − P(first) at the token of the rating, normalised over the three ratings."""
    mass = dict.fromkeys("012", 0.0)
    for token, logprob in _alternatives(reply):
        digits = [digit for digit in "012" if digit in token]
        if len(digits) == 1 and not re.search(r"[^\s<>012/a-z]", token, re.IGNORECASE):
            if not math.isfinite(logprob):
                return None  # not a log probability
            mass[digits[0]] += math.exp(min(0.0, logprob))
    total = sum(mass.values())
    return (mass["2"] - mass["1"]) / total if total > 0 else None


def _alternatives(reply: Reply) -> list[tuple[str, float]]:
    rows = _rows(reply.logprobs)
    text = "".join(token for token, *_ in rows)
    finals = list(re.finditer(r"<rating>\s*([012])", text, re.IGNORECASE))
    end = 0
    for token, logprob, alternatives in rows if finals else ():
        end += len(token)
        if end > finals[-1].start(1):
            return alternatives or [(token, logprob)]
    return []


def _rows(logprobs: str | None) -> list[tuple[str, float, list[tuple[str, float]]]]:
    """Return a reply's tokens with log probabilities and top alternatives; empty if malformed.

    `logprobs` is the JSON text of an OpenAI-style list of tokens, or of `{"content": that list}`.
    """
    try:
        record = json.loads(logprobs or "[]")
        content = record["content"] if isinstance(record, dict) else record
        return [
            (
                *_token_logprob(item),
                [_token_logprob(alternative) for alternative in item.get("top_logprobs") or ()],
            )
            for item in content
        ]
    except (ValueError, TypeError, LookupError, AttributeError):
        return []


def _token_logprob(item: Mapping[str, Any]) -> tuple[str, float]:
    logprob = item["logprob"]
    return str(item["token"]), math.nan if logprob is None else float(logprob)
