"""Text in an answer that is meant for the judge rather than for the reader. It is flagged, never removed.

A null system that wrote such text reached 86.5 % on a public board (Zheng et al., 2024, "Cheating
automatic LLM benchmarks"); judges neutralise it, and this tells teams and organisers.
"""

from __future__ import annotations

import re
import unicodedata

_TEXTS = r"(?:answers?|responses?|outputs?|assistants?|candidates?|models?|submissions?)"
_PATTERNS = (
    # Tags of judging prompts and of chat formats.
    re.compile(
        r"</?(?:rating|verdict|winner|score|judge\w*|grade|preference|evaluation|system|instructions?"
        r"|(?:answer|response|assistant)[_ -]?[12ab])>"
    ),
    re.compile(
        r"<\|[\w ]{2,40}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
        r"|\[\[(?:[ab](?:[<>=]{1,2}[ab])?|c|tie)\]\]"
    ),
    re.compile(r"^\s*#{0,4}\s*(?:system|assistant|instructions?)\s*:\s", re.MULTILINE),
    # Orders and addresses.
    re.compile(
        r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|above|prior|earlier|preceding|other|all)\b"
        r".{0,30}\b(?:instructions?|prompts?|rules?|rubrics?|answers?|responses?|criteria)\b"
    ),
    re.compile(
        r"\b(?:note|message|instructions?|attention|dear|hello|hi)\b.{0,20}\b(?:judge|grader|evaluator|rater)s?\b"
    ),
    re.compile(r"\byou are (?:an? |the )?(?:\w+ ){0,3}(?:judge|grader|evaluator|rater)\b"),
    re.compile(r"\bas (?:an? |the )(?:\w+ ){0,2}(?:judge|grader|evaluator|rater),"),
    # Claims about the comparison.
    re.compile(
        rf"\b(?:this|my|the (?:first|second|other|above|following|current)) {_TEXTS} "
        r"(?:is|should be|must be|deserves|wins)\b.{0,40}\b(?:better|best|superior|preferred|winner|win|wins"
        r"|higher|highest|chosen|selected|rated|ranked|worse|inferior|wrong)\b"
    ),
    re.compile(
        rf"\b(?:choose|select|prefer|pick|rate|rank|score|vote for|give)\b (?:\w+ )?{_TEXTS} ?[\"'(]?"
        r"(?:[12ab]\b|one\b|two\b|first\b|second\b|as (?:the )?(?:better|best|winner|higher|highest))"
    ),
    re.compile(
        rf"\b{_TEXTS} (?:[12ab]|one|two) (?:is|was|should be|must be) (?:the )?(?:clearly |much )?"
        r"(?:better|best|superior|preferred|the winner|winner|worse|inferior)\b"
    ),
    re.compile(r"\b(?:final|overall) (?:rating|verdict|judge?ment)\s*[:=]"),
    re.compile(r"[\"'](?:rating|winner|verdict|preference)[\"']\s*:"),
)
# A text without any of these cannot match; looking for them is quicker than the patterns.
_HINTS = (
    *("rating", "verdict", "winner", "score", "judg", "grade", "preference", "evaluat", "rater", "prompt"),
    *(
        "instruction",
        "system",
        "answer",
        "response",
        "assistant",
        "output",
        "candidate",
        "model",
        "submission",
    ),
    *("rule", "rubric", "criteria", "<|", "inst]", "sys>", "_of_turn", "[["),
)
_HIDDEN = re.compile(
    "[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_HIDDEN_IN_USE = "\u200c\u200d\u200e\u200f\u00ad"
"""Joiners, direction marks and soft hyphens, which honest text has as well."""


def judge_directed(text: str) -> str:
    """The first phrase or tag that is aimed at a judge; empty where there is none.

    Case, Unicode look-alikes (NFKC) and hidden characters make no difference.
    """
    plain = text.casefold()
    if not plain.isascii():
        plain = _HIDDEN.sub("", unicodedata.normalize("NFKC", plain))
    if not any(hint in plain for hint in _HINTS):
        return ""
    for pattern in _PATTERNS:
        found = pattern.search(plain)
        if found:
            return " ".join(found.group().split())
    return ""


def hidden_characters(text: str) -> int:
    """How many characters of a text nobody sees; those that honest text uses are left out."""
    if text.isascii():
        return 0
    return sum(character not in _HIDDEN_IN_USE for character in _HIDDEN.findall(text))
