"""Recognising a reply that gives no answer: "I couldn't find an answer" and similar sentences.

RAG-QA Arena tells systems to say exactly that when the passages do not help (Han et al., 2024,
Table 11) and reports its share for each system (Table 9); real systems say it in many ways.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

MAX_WORDS = 80
"""A longer text tells something, whatever else it says."""

_REASONING_END = re.compile(r"(?i)</(?:think|thinking|thoughts?|reasoning)>")
_LABELLED_REASONING = re.compile(r"(?is)\A\s*+(?:thinking|thoughts?|reasoning)\s*+:.*?\banswer\s*+:")
_WRAPPER = re.compile(r"(?i)</?(?:answer|final_answer|response|output)>|^\W*(?:final\s+)?answer\W*:")
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"')\]*]|$)|[;\n]+")
_EDGES = " \t\"'`*_#>-,:()[]"
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "`": "'"})
_WRITTEN_OUT = (
    ("can't", "cannot"),
    ("can not", "cannot"),
    ("n't", " not"),
    ("couldnt", "could not"),
    ("i'm ", "i am "),
    ("there's", "there is"),
    ("it's", "it is"),
)

_SOURCE = (
    r"(?:passages?|contexts?|contents?|documents?|excerpts?|texts?|sources?|articles?|materials?|snippets?"
    r"|information|search results|results|database|knowledge base|corpus|paragraphs?)"
)
_SOUGHT = r"(?:answers?|information|mention|details?|data|results?|references?|anything|response|explanation)"
_NOT = (
    r"(?:could not|cannot|did not|do not|(?:was|am|were|are) (?:unable|not able) to"
    r"|have not(?: been able to)?|failed to)"
)
_FIND = r"(?:find|found|locate|identify|provide|give|offer|see|generate|determine|extract|retrieve)"
_STATE = (
    r"(?:provide|contain|mention|include|give|state|specify|answer|address|say|offer|have|discuss|explain"
    r"|indicate|describe|list|cover|reveal|seem|appear)"
)
_FOUND = (
    r"(?:found|available|mentioned|provided|given|answered|stated|specified|present|included|addressed|discussed"
    r"|in the)"
)

_LEAD = re.compile(
    r"\A(?:(?:(?:i am |we are )?(?:very |so )?(?:sorry|afraid)|(?:i |we )?apologi[sz]e"
    r"|unfortunately|regrettably|my apologies)(?: that| for the \w++)?,? ?(?:but )?"
    rf"|(?:based (?:up)?on|according to|from|in|given|after \w+ing)[^,]{{1,60}}\b{_SOURCE}\b[^,]{{0,40}}, ?)+"
)
_NOTHING_ABOUT = re.compile(rf"there (?:is|are|was|were) (?:no|not any)(?: [\w-]+)? {_SOUGHT}\b.*")
_TURN = re.compile(r"\b(?:but|however|although|though|nevertheless|still|yet|except|other than|instead)\b")

_SAYS_NOTHING = (
    # I could not find any helpful information in the passages
    re.compile(rf"(?:(?:i|we) )?{_NOT} {_FIND}(?: (?!that\b)[\w'-]+){{0,8}}? {_SOUGHT}\b.*"),
    # I cannot answer this question; I am unable to help
    re.compile(
        rf"(?:(?:i|we) )?{_NOT} (?:[a-z]+ly )?(?:answer|respond|help|say)(?: (?:to |you )?"
        r"(?:this|that|the|your|with|from|based)\b.*)?"
    ),
    # I do not know the answer
    re.compile(r"(?:i|we) do not know(?: (?:the|an|this) ?(?:answer)?\b.*)?"),
    # I do not have enough information to answer
    re.compile(rf"\A(?:i|we) (?:do|did) not have\b.*\b{_SOUGHT}\b.*"),
    # The passages do not say who wrote it; none of the passages mentions it
    re.compile(
        rf"(?:the|this|these|your|none of the|none of these)(?: [\w-]+){{0,3}}? {_SOURCE}(?:"
        rf" \w+){{0,2}}? (?:(?:do|does|did) not (?:\w+ly )?{_STATE}|fails? to {_STATE}|lacks?)\b.*"
    ),
    re.compile(
        rf"(?:the|this|these)(?: [\w-]+){{0,3}}? {_SOURCE}(?: \w+){{0,2}}? {_STATE}s? "
        r"(?:no|insufficient)\b.*"
    ),
    re.compile(rf"none of (?:the|these)(?: [\w-]+){{0,3}}? {_SOURCE}(?: \w+){{0,2}}? {_STATE}s?\b.*"),
    # There is no mention of the song in the passages; there is not enough information
    re.compile(
        r"\Athere (?:is|are|was|were|seems to be|appears to be) (?:no|not "
        rf"(?:enough|any|sufficient)|insufficient)\b(?>.*?\b{_SOUGHT}\b).*\b{_SOURCE}\b.*"
    ),
    re.compile(
        rf"there (?:is|was) (?:no|not enough|insufficient)(?: \w+)? {_SOUGHT}(?: (?:{_FOUND}|to"
        r" answer)\b.*)?"
    ),
    # The price is not mentioned in the passages; no answer was found in the passages
    re.compile(
        rf"\A(?>.*?\b(?:is|are|was|were|does|could|can|has|have)(?: not|not) (?:\w+ly |be |been ){{0,3}}"
        rf"(?:{_FOUND}|exist|appear)\b).*\b(?:in|by|from|within) (?:the|any of the|these)(?:"
        rf" [\w-]+){{0,3}}? {_SOURCE}\b.*"
    ),
    re.compile(
        rf"(?:the|an|this|your) (?:answer|question|query|information)\b.{{0,80}}\b(?:cannot|not|could"
        rf" not) (?:be )?(?:\w+ly )?{_FOUND}\b.*"
    ),
    re.compile(
        rf"no (?:\w+ ){{0,2}}{_SOUGHT}(?: (?:is|was|were|are|could be|can be|has been))?(?:"
        rf" {_FOUND}\b.*)?"
    ),
    # Telegrams
    re.compile(
        r"(?:not enough|insufficient) (?:information|context|data|details)\b.*|(?:answer )?not"
        rf" {_FOUND}"
    ),
    re.compile(
        r"fail(?:ed)? to generate (?:an )?(?:ans|answer|response)|n/a|none|unknown|unanswerable"
        r"|idk|no idea"
    ),
)
# Of what every one of these sentences has one somewhere.
_DENIES = re.compile(r"no(?:t|ne)?\b")
_DENYING = ("fail", "lack", "unable", "insufficient", "unknown", "unanswerable", "n/a", "idk")
# Of what every text with one has some before anything is written out; one sign is found sooner than three.
_DENYING_SHORT = ("/", "`", "n't", "couldnt", *(word for word in _DENYING if "/" not in word))
_ADDS_NOTHING = re.compile(
    r"\A(?:(?:the|these|this|they|it)\b.{0,40}?(?:mainly |mostly |only |primarily )*"
    r"(?:discuss|focus|talk|deal|cover|relate)(?:es|s)?\b.*"
    r"|(?:please|could you|can you|if you|you (?:may|might|could|can|should)|let me know|feel free)\b.*"
    r"|(?:further|more|additional)\b.*\b(?:information|context|research|details|passages)\b.*"
    r"|i (?:am )?sorry.*|(?:i )?apologi[sz]e.*|sorry.*|thank(?:s| you).*)"
)


def is_no_answer(text: str) -> bool:
    """Tell whether a system's text says that it found no answer, and says nothing else.

    Reasoning (`<thinking>…</thinking>`) and answer wrappers are left out first; a text of which
    nothing is left gives no answer either. A text that goes on to answer ("… However, …"), or that
    has more than 80 words, is an answer.
    """
    text = _without_reasoning(text)
    if _surely_tells(text):
        return False
    if len(text.split()) > MAX_WORDS + 20:  # A quick way out: no wrapper has so many words.
        return False
    text = _plain(text)
    if not _DENIES.search(text) and not any(map(text.__contains__, _DENYING)):
        return not any(map(str.isalnum, text))
    words, silent, told = 0, False, False
    for sentence in _sentences(text):
        told = True
        words += len(sentence.split())
        if words > MAX_WORDS:
            return False
        if _says_nothing(sentence):
            silent = True
        elif not _ADDS_NOTHING.fullmatch(sentence):
            return False
    return silent or not told


def _surely_tells(text: str) -> bool:
    """Whether a text in ASCII has neither a wrapper nor a word of a denial, as most have."""
    if not text.isascii() or ">" in text or ":" in text:
        return False
    plain_text = text.lower()
    if any(map(plain_text.__contains__, _DENYING_SHORT)) or _DENIES.search(plain_text):
        return False
    return any(map(str.isalnum, text))


def _without_reasoning(text: str) -> str:
    ends = [match.end() for match in _REASONING_END.finditer(text)] if "</" in text else []
    text = text[ends[-1] :] if ends else text
    labelled = _LABELLED_REASONING.match(text)
    return text[labelled.end() :] if labelled else text


def _plain(text: str) -> str:
    if text.isascii():
        text = text.replace("`", "'")
    else:
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    # Every wrapper has one of them.
    if ">" in text or ":" in text:
        text = _WRAPPER.sub(" ", text)
    text = text.casefold()
    for short, written_out in _WRITTEN_OUT:
        text = text.replace(short, written_out)
    return text


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in chain(_SENTENCE_END.finditer(text), (None,)):
        part = text[start : None if end is None else end.start()]
        start = 0 if end is None else end.end()
        if any(map(str.isalnum, part)):
            yield " ".join(part.split()).strip(_EDGES)


def _says_nothing(sentence: str) -> bool:
    lead = _LEAD.match(sentence)
    statement = sentence[lead.end() :] if lead else sentence
    if _TURN.search(statement):
        return False
    return any(pattern.fullmatch(statement) for pattern in _SAYS_NOTHING) or (
        lead is not None and _NOTHING_ABOUT.fullmatch(statement) is not None
    )
