"""Cleaning of answers before they are judged.

Two cleanings: `standard` strips the wrappers that models put around an answer and nothing of the
answer itself; `compat` repeats RAG-QA Arena's steps to the letter, with their side effects (every
"Answer: " within an answer goes, and whatever stands before a `<thinking>` goes with it).
"""

import re
from functools import lru_cache

from data.declines import REASONING, REASONING_OPEN
from judges.spec import Cleaning

NO_ANSWER = "I couldn't find an answer."
FAILED_GENERATION = "FAIL TO GENERATE ANS."

_LEADING_REASONING = re.compile(rf"\A\s*+<({REASONING})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_ORPHAN_CLOSE = re.compile(r"\A(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_LEADING_LABEL = re.compile(
    r"\A\s*+(?:\*\*)?(?:thinking|thoughts?|reasoning)(?:\*\*)?:.*?"
    r"^[^\S\n]*+(?:\*\*)?(?:final )?answer(?:\*\*)?:(?:\*\*)?\s*+",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_INLINE_LABEL = re.compile(r"\A\s*+(?:thinking|thoughts?): .*?\banswer: ", re.DOTALL | re.IGNORECASE)
_WRAPPER = re.compile(r"\A\s*+<(answer|final_answer|response)>", re.IGNORECASE)
_PREFIX = re.compile(r"\A\s*+(?:\*\*)?(?:final )?answer(?:\*\*)?:(?:\*\*)?\s+", re.IGNORECASE)

# Whatever the patterns above take off begins like this, but for a closing tag without an opening one.
_MARKED = re.compile(r"\A\s*+(?:<|\*\*|think|thought|reasoning|(?:final )?answer)", re.IGNORECASE)

_THOUGHTS = (
    ("<thinking>", "</thinking>"),
    ("Thinking: ", "Answer: "),
    ("Thoughts: ", "Answer: "),
    ("Thought: ", "Answer: "),
)
_REMEMBERED = 1_024
_MOST_WRAPPERS = 50
"""More than models put around an answer; each costs a reading of the whole text."""


def clean(text: str, cleaning: Cleaning = Cleaning.STANDARD) -> str:
    """Take the wrappers off an answer."""
    match cleaning:
        case Cleaning.STANDARD:
            return _standard(text)
        case Cleaning.COMPAT:
            return _compat(text)
        case Cleaning.NONE:
            return text


def _standard(text: str) -> str:
    bare = text.strip()
    # Most answers carry no wrapper, and this is asked of every answer of a board.
    if _MARKED.match(bare) or "</" in bare:
        bare = _bare(bare)
    return NO_ANSWER if bare == FAILED_GENERATION else bare


@lru_cache(maxsize=_REMEMBERED)
def _bare(text: str) -> str:
    for _ in range(_MOST_WRAPPERS):
        before = text
        text = _ORPHAN_CLOSE.sub("", text, count=1) if "</think" in text.lower() else text
        text = _LEADING_REASONING.sub("", text, count=1)
        text = _LEADING_LABEL.sub("", text, count=1)
        text = _INLINE_LABEL.sub("", text, count=1)
        text = _unwrapped(text)
        text = _PREFIX.sub("", text, count=1).strip()
        if text == before:
            break
    return "" if REASONING_OPEN.match(text) else text


def _unwrapped(text: str) -> str:
    """Remove a text's opening tag and, where the text ends with it, the closing one."""
    match = _WRAPPER.match(text)
    if match is None:
        return text
    closing = f"</{match[1]}>".lower()
    inner = text[match.end() :].rstrip()
    return inner[: -len(closing)] if inner[-len(closing) :].lower() == closing else inner


def _compat(text: str) -> str:
    """RAG-QA Arena's steps in its order; the result is not stripped at the end, as theirs is not."""
    for opening, closing in _THOUGHTS:
        text = _cut(text, opening, closing)
    for wrapper in ("Answer: ", "Answer:\n", "<answer>"):
        text = text.replace(wrapper, "").replace("</answer>", "")
    return NO_ANSWER if text == FAILED_GENERATION else text


def _cut(text: str, opening: str, closing: str) -> str:
    """Drop everything through the first closing mark where an opening one stands before it."""
    start, end = text.find(opening), text.find(closing)
    return (text[end + len(closing) :] if 0 <= start <= end else text).strip()
