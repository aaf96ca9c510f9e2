"""Cleaning of answers before they are judged.

`standard` removes only the wrappers that models put around an answer; `compat` repeats RAG-QA Arena's steps
exactly, with their side effects: they remove every "Answer: " in an answer and all text before `<thinking>`.
"""

import re
from functools import lru_cache

from data.declines import REASONING, REASONING_OPEN, with_plain_marks
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
_FENCE = re.compile(r"\A```(?:markdown|md|text)[^\S\n]*\n((?:(?!```).)*)```\Z", re.DOTALL)
_PREFIX = re.compile(r"\A\s*+(?:\*\*)?(?:final )?answer(?:\*\*)?:(?:\*\*)?\s+", re.IGNORECASE)

# Everything that the patterns above remove begins like this, except a closing tag without an opening one.
_MARKED = re.compile(r"\A\s*+(?:<|`|\*\*|think|thought|reasoning|(?:final )?answer)", re.IGNORECASE)

_THOUGHTS = (
    ("<thinking>", "</thinking>"),
    ("Thinking: ", "Answer: "),
    ("Thoughts: ", "Answer: "),
    ("Thought: ", "Answer: "),
)
_CACHE_SIZE = 1_024
_MAX_WRAPPERS = 50
"""Safety limit: each wrapper costs a pass over the whole text."""


def clean(text: str, cleaning: Cleaning = Cleaning.STANDARD) -> str:
    """Remove the wrappers of an answer."""
    match cleaning:
        case Cleaning.STANDARD:
            return _standard(text)
        case Cleaning.COMPAT:
            return _compat(text)
        case Cleaning.NONE:
            return text


def _standard(text: str) -> str:
    bare = with_plain_marks(text).strip()
    # This check keeps boards fast, because most answers have no wrapper.
    if _MARKED.match(bare) or "</" in bare:
        bare = _bare(bare)
    return NO_ANSWER if bare == FAILED_GENERATION else bare


@lru_cache(maxsize=_CACHE_SIZE)
def _bare(text: str) -> str:
    for _ in range(_MAX_WRAPPERS):
        before = text
        text = _ORPHAN_CLOSE.sub("", text, count=1) if "</think" in text.lower() else text
        text = _LEADING_REASONING.sub("", text, count=1)
        text = _LEADING_LABEL.sub("", text, count=1)
        text = _INLINE_LABEL.sub("", text, count=1)
        text = _FENCE.sub(r"\1", _unwrap(text))
        text = _PREFIX.sub("", text, count=1).strip()
        if text == before:
            break
    return "" if REASONING_OPEN.match(text) else text


def _unwrap(text: str) -> str:
    """Remove a text's opening tag and, if the text ends with it, the closing tag."""
    match = _WRAPPER.match(text)
    if match is None:
        return text
    closing = f"</{match[1]}>".lower()
    inner = text[match.end() :].rstrip()
    return inner[: -len(closing)] if inner[-len(closing) :].lower() == closing else inner


def _compat(text: str) -> str:
    # Like RAG-QA Arena's code, this does not strip the result.
    for opening, closing in _THOUGHTS:
        text = _cut(text, opening, closing)
    for wrapper in ("Answer: ", "Answer:\n", "<answer>"):
        text = text.replace(wrapper, "").replace("</answer>", "")
    return NO_ANSWER if text == FAILED_GENERATION else text


def _cut(text: str, opening: str, closing: str) -> str:
    """Remove everything through the first closing mark if an opening mark precedes it."""
    start, end = text.find(opening), text.find(closing)
    return (text[end + len(closing) :] if 0 <= start <= end else text).strip()
