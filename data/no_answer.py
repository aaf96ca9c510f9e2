"""Recognising a reply that gives no answer: "I couldn't find an answer" and similar sentences.

RAG-QA Arena tells systems to say exactly that when the passages do not help (Han et al., 2024,
Table 11) and reports its share for each system (Table 9); real systems say it in many ways. What is
said of the passages that a system was shown is told from what is said of any other text: "the
provided documents do not cover floods" gives no answer, "the text of the Bible" is no passage.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

MAX_WORDS = 80
"""A longer text tells something, whatever else it says."""
MAX_CHARACTERS = 2_000
_REASONING_END = re.compile(r"(?i)</(?:think|thinking|thoughts?|reasoning|scratchpad|analysis)>")
_LABELLED_REASONING = re.compile(r"(?is)\A\s*+(?:thinking|thoughts?|reasoning)\s*+:.*?\banswer\s*+:")
_WRAPPER = re.compile(r"(?i)</?(?:answer|final_answer|response|output)>|^\W*(?:final\s+)?answer\W*:")
_SIGNS = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u00b4`", "'") | dict.fromkeys("\u201c\u201d", '"'))
_WRITTEN_OUT = (
    ("can't", "cannot"),
    ("can not", "cannot"),
    ("n't", " not"),
    ("couldnt", "could not"),
    ("dont ", "do not "),
    ("i'm ", "i am "),
    ("we're ", "we are "),
    ("i've ", "i have "),
    ("there's", "there is"),
    ("it's", "it is"),
)
# Where a sentence turns, what follows has to say nothing either.
_CLAUSE_END = re.compile(
    r"[.!?](?=[\s\"')\]*]|$)|[;\n]+|: |\s[-\u2013\u2014]+\s|\u2014"
    r"|,(?= (?:they|it) )|,? \b(?:but|however|although|though|nevertheless|yet)\b|, (?:so|and i|and we"
    r"|therefore)\b(?! that)"
)
_OPENING = re.compile(
    r"\A(?:(?:but|however|although|though|so|therefore|thus|hence|as such|also|and|yet)\b,? ?)+"
)
_EDGES = " \t\"'*_#>-,:()[]"
_GIVEN = (
    r"(?:provided|given|supplied|retrieved|available|above|following|attached|shown|presented|cited|input"
    r"|search|relevant|accompanying|uploaded|quoted|indexed|reference|source|web|same|current|context|text)"
)
_STRONG = r"(?:passages?|contexts?|excerpts?|snippets?|(?:search|retrieved) results?|knowledge base)"
_WEAK = (
    r"(?:texts?|documents?|sources?|articles?|materials?|contents?|information|database|results|corpus"
    r"|paragraphs?|pages?|data|files?|evidence|documentation)"
)
_THE = (
    r"(?:(?:(?:any|all|none|neither|either|some) of )?(?:the|these|those|this|your|my)|any|no|neither|either)"
)
_AFTER = (
    r"(?: (?:itself|themselves|here|provided|given|supplied|above|below|retrieved|available|at hand"
    r"|in question"
    r"|to me|i (?:have|was given|was provided|received)|(?:that )?you (?:have )?(?:provided|gave|shared)))"
)
_ELSEWHERE = r"(?! (?:of|in|from)\b(?! (?:the|these|your) (?:passages|documents|context)))"
_PROMPT = (
    rf"(?:(?:{_THE} )?(?:{_GIVEN} (?:and )?){{1,3}}(?:{_STRONG}|{_WEAK})|{_THE} {_STRONG}"
    rf"|{_THE} {_WEAK}(?={_AFTER}))\b{_ELSEWHERE}{_AFTER}{{0,2}}"
)
_BARE = rf"(?:(?:the|these|this|your|none of the|none of these) {_WEAK}|texts|documents|passages|sources)\b"
_SOUGHT = (
    r"(?:answers?|information|mention|details?|data|results?|references?|anything|response|explanation"
    r"|evidence|indication|context|it|this|that|(?:topic|subject|question)s?)"
)
_VERY = r"(?:\w+ly |also |even |actually |still |ever |been |be |seem to |appear to ){0,3}"
_SAY = (
    r"(?:mention|say|state|specify|answer|address|explain|indicate|discuss|describe|clarify|reveal|define"
    r"|disclose|elaborate|tell|speak|refer|talk|touch|detail|identif(?:y|ie))"
)
_HOLD = r"(?:provide|contain|include|give|offer|have|list|cover|hold|show|name)"
_SAID = (
    r"(?:mentioned|stated|specified|answered|addressed|explained|indicated|discussed|described|provided|given"
    r"|clarified|revealed|defined|disclosed|elaborated)"
)
_FOUND = (
    rf"(?:{_SAID}|found|available|present|included|covered|listed|contained|exist|appear|clear|known"
    rf"|named|there)"
)
_FIND = r"(?:find|locate|identify|provide|offer|see|generate|determine|extract|retrieve|give|produce)"
_NOT = r"(?:do|does|did|could|can|have|has|would) not|cannot"
_UNABLE = (
    r"(?:cannot|could not|(?:am|was|are|were) (?:unable|not able) to|unable to|failed to"
    r"|have not been able to)"
)
_WHAT = r"(?:who|whom|whose|what|when|where|why|how|which|if|whether)"
_LEAD = re.compile(
    r"\A(?:(?:(?:i am |we are )?(?:very |so )?(?:sorry|afraid)|(?:i |we )?apologi[sz]e|apologies"
    r"|unfortunately|regrettably|my apologies|as an? (?:ai|(?:large )?language)[\w -]*+)(?: that"
    r"| for the \w++)?,? ?(?:but )?"
    rf"|(?:based (?:up)?on|according to|from|in|given|after \w+ing)\b[^,]{{0,60}}?\b(?:{_STRONG}"
    rf"|{_WEAK})\b[^,]{{0,40}}, ?)+"
)
_SAYS_NOTHING = re.compile(
    # Anchored, so that it looks at the beginning of a text alone.
    r"\A(?:"
    # The passages do not say who wrote it; the context makes no mention of it
    rf"{_PROMPT}(?: (?:about|on|regarding)(?: [\w'-]+){{1,5}}?)? {_VERY}(?:(?:{_NOT}) {_VERY}(?:{_SAY}"
    rf"|{_HOLD})\b.*"
    rf"|fails? to .*|lacks? .*|(?:{_SAY}|{_HOLD})s? (?:no|nothing|insufficient)\b.*|makes? no mention\b.*"
    r"|(?:is|are) (?:silent|insufficient|irrelevant|unrelated|not (?:\w+ly )?(?:relevant|sufficient|helpful"
    r"|enough|related|clear|about))\b.*)"
    rf"|(?:none|neither|nothing|no \w++) (?:of|in) {_PROMPT} {_VERY}(?:{_SAY}|{_HOLD}|answer)(?:s|es)?\b.*"
    rf"|(?:none of (?:the|these)|neither|no) (?:{_GIVEN} ){{0,2}}(?:{_STRONG}|{_WEAK})"
    rf"(?: {_GIVEN})? {_VERY}(?:{_SAY}|{_HOLD})(?:s|es)?\b.*|nothing (?:is|was) {_FOUND} .*\b{_PROMPT}.*"
    # The text does not say who wrote it; the documents do not contain the answer
    rf'|{_BARE}{_AFTER}? {_VERY}(?:{_NOT}|fails? to) {_VERY}(?:{_SAY}\b[^"]*'
    rf'|{_HOLD}(?: [\w-]+){{0,4}}? {_SOUGHT}\b[^"]*)'
    rf'|{_BARE} (?:{_SAY}|{_HOLD})s? (?:no|nothing|insufficient)(?: [\w-]+){{0,2}} {_SOUGHT}\b[^"]*'
    # I could not find any helpful information; unable to find it in the passages
    rf"|(?:(?:i|we) )?{_VERY}(?:{_UNABLE} {_FIND}|(?:do|did) not {_VERY}(?:find|see|locate|have)|lack"
    rf"|have found no)"
    rf"(?: (?!that\b)[\w'-]+){{0,8}}? (?:(?:answers?|information|mention|details?|references?|anything"
    rf"|data)\b.*|(?:it|this|that)|in {_PROMPT}.*)"
    rf"|(?:(?:i|we) )?{_UNABLE} {_VERY}(?:determine|tell|say|confirm|conclude|find out) {_WHAT}\b.*"
    rf"|(?:(?:i|we) )?{_UNABLE} {_VERY}(?:answer|respond|help|say|assist|tell|determine"
    rf"|comment)(?: (?:to |you |it )?"
    r"(?:this|that|it|the (?:question|query|request)|your|with|from|based|for (?:sure|certain))\b.*)?"
    rf"|(?:(?:i|we) )?{_VERY}do not {_VERY}know(?: (?:the|an|this|that|about|for|enough|{_WHAT})\b.*)?"
    rf"|(?:(?:i|we) am |(?:i|we) are )?(?:not (?:\w+ly )?(?:sure|certain)|unsure|uncertain)"
    rf"(?: (?:about|of|how|{_WHAT}|i|what) .*)?"
    r"|(?:i|we) (?:do|did) not have (?:access|enough|sufficient|the (?:necessary|required))\b.*"
    rf"\b{_SOUGHT}\b.*|(?:i|we) have no (?:idea|clue|answer|information|knowledge|data|way of knowing)\b.*"
    r"|(?:i|we) (?:would )?need (?:more|additional|further) (?:information|context|details)\b.*"
    # There is not enough information; there is no answer to this question
    r"|there (?:is|are|was|were) (?:no|not (?:enough|any|sufficient)"
    r"|insufficient)(?: [\w-]+){0,2}? (?:answers?|"
    rf"information|details?|data|context|mention)(?: (?:{_SAID}|available|found))?(?: (?:to (?:answer"
    rf"|determine|say|tell"
    r"|conclude|(?:this|your|the) question)|about|on|regarding|concerning|for)(?: (?!in )[\w'\"-]+)*)?"
    # The answer could not be found; it is not possible to say
    rf"|(?:(?:the|an|any|this|that|your|such) )?(?:\w+ )?(?:answer|question|query|information|context|data)"
    r"(?: (?!cannot|could|is|was|are|not)[\w'-]+){0,6} (?:(?:cannot|could not|is not|was not|are not|not) "
    rf"{_VERY}(?:{_SAID}|found|available|answerable|determined))(?: (?:from|with|by|in|using"
    rf"|based on) {_PROMPT}.*| (?:with|based on|from|using) (?:the|this|any) \w+|)"
    rf"|(?:the|an|any) (?:answer|information) (?:is|was) not in {_PROMPT}.*"
    rf"|it (?:is|was) (?:not (?:\w+ )?(?:possible|clear)|impossible|unclear)\b.*\b{_PROMPT}.*"
    r"|it (?:is|was) (?:not possible|impossible) to (?:answer|say|tell|determine)(?: (?:this|that|the"
    r"|your) question)?"
    # Telegrams
    r"|no (?:[\w-]+ ){0,2}?(?:answers?|information|details?|data|results?|passages?|documents?|context"
    r"|sources?|"
    rf"mention)(?: (?:is|was|were|are|could be|can be|has been|have been))?(?: (?:{_FOUND}|retrieved"
    rf"|returned))?"
    rf"(?: (?:about|on|regarding|for|of|to|in {_PROMPT})\b(?: (?!in )[\w'\"-]+)*)?(?: in {_PROMPT})?"
    r"|(?:not enough|insufficient) (?:information|context|data|details|evidence)\b.*"
    rf"|(?:answer )?not {_VERY}{_FOUND}(?: (?:in|by|from|within) (?:{_PROMPT}|{_BARE}))?"
    rf"|nothing (?:was )?found"
    r"|fail(?:ed)? to generate (?:an )?(?:ans|answer|response)|n/?a|none|unknown|unanswerable|not answerable"
    r"|idk|no idea|no clue|null|cannot (?:be )?(?:answer|answered|determine|determined|say|tell)|no comment)"
)
_IN_PROMPT = re.compile(rf"\b(?:in|by|from|within|among|through|with|throughout) {_PROMPT}")
_IN_BARE = re.compile(rf"\b(?:in|by|from|within) {_BARE}{_AFTER}?\Z")
_NOT_FOUND = re.compile(rf"(?:not|never) {_VERY}{_FOUND}\b")
_NOT_SAID = re.compile(rf"\A(?!the (?:word|phrase|term|verse|line|quote)\b)[^\"]* not {_VERY}{_SAID}\b")
_NONE = re.compile(
    r"\A(?:there (?:is|are|was|were|seems to be|appears to be) )?(?:no|not (?:any|enough)|insufficient)\b"
)
_SPEAKS_OF_SOUGHT = re.compile(rf"\b{_SOUGHT}\b")
_NOTHING_ABOUT = re.compile(
    rf"there (?:is|are|was|were) (?:no|not any|not enough)(?: [\w-]+)?? {_SOUGHT}\b.*"
    rf"|.*\bnot {_VERY}(?:{_SAID}|found)"
)
_IT_DOES_NOT = re.compile(rf"(?:they|it|none of them) {_VERY}(?:(?:{_NOT}) {_VERY})(?:{_SAY}|{_HOLD})\b.*")
# Of what every one of these sentences has one somewhere.
_DENIES = re.compile(
    r"\b(?:not?|none|nothing|neither|never|null|n/?a|idk|need|silent|cannot|couldnt|dont)\b|n't|fail|lack"
    r"|unable|insufficient|impossible|irrelevant|un(?:known|answerable|sure|certain|clear|related)"
)
_OF_PASSAGES = re.compile(rf"(?:{_PROMPT}|{_BARE})\b.*")
_ADDS_NOTHING = re.compile(
    rf"(?:(?:{_PROMPT}|{_BARE}|they|it)\b(?:,? \w+ly|,? only|,? instead|,? rather){{0,2}}(?: \w+)?? "
    r"(?:discuss|focus|talk|deal|cover|relate|concern|(?:is|are) (?:\w+ly )?about)(?:es|s)?\b.*"
    r"|(?:please|could you|can you|you (?:may|might|could|can|should)(?: \w+)?) (?:also )?(?:ask|check"
    r"|clarify|consult"
    r"|contact|give|let|look|need|note that i|provide|refer|rephrase|search|share|specify|supply|try|visit"
    r"|want)\b.*|(?:let me know|feel free)\b.*"
    r"|(?:if you|further|more|additional)\b.*\b(?:information|context|research|details|passages"
    r"|questions?)\b.*|i (?:am )?sorry.*|(?:i )?apologi[sz]e.*|sorry.*|thank(?:s| you).*)"
)


def is_no_answer(text: str) -> bool:
    """Tell whether a system's text says that it found no answer, and says nothing else.

    Reasoning (`<thinking>…</thinking>`) and answer wrappers are left out first; a text of which
    nothing is left gives no answer either. A text that goes on to answer ("… However, …"), or that
    has more than 80 words, is an answer.
    """
    text = _without_reasoning(text)
    if len(text.split(maxsplit=MAX_WORDS + 20)) > MAX_WORDS + 20:  # A quick way out: no wrapper has so many.
        return False
    text = _plain(text)
    if len(text) > MAX_CHARACTERS or not _DENIES.search(text):
        return not any(map(str.isalnum, text))
    silent = told = spoke_of_passages = False
    if len(text.split()) > MAX_WORDS:
        return False
    for clause in _clauses(text):
        told = True
        lead = _LEAD.match(clause)
        statement = clause[lead.end() :] if lead else clause
        if (
            _says_nothing(statement)
            or (lead and _NOTHING_ABOUT.fullmatch(statement))
            or (spoke_of_passages and _IT_DOES_NOT.fullmatch(statement))
        ):
            silent = True
        elif statement and not _ADDS_NOTHING.fullmatch(statement):
            return False
        spoke_of_passages = spoke_of_passages or bool(_OF_PASSAGES.match(statement))
    return silent or not told


def _without_reasoning(text: str) -> str:
    ends = [match.end() for match in _REASONING_END.finditer(text)] if "</" in text else []
    text = text[ends[-1] :] if ends else text
    labelled = _LABELLED_REASONING.match(text)
    return text[labelled.end() :] if labelled else text


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).casefold()
    # Every wrapper has one of them.
    if ">" in text or ":" in text:
        text = _WRAPPER.sub(" ", text)
    for short, written_out in _WRITTEN_OUT:
        text = text.replace(short, written_out)
    return text


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for end in chain(_CLAUSE_END.finditer(text), (None,)):
        part = text[start : None if end is None else end.start()]
        start = 0 if end is None else end.end()
        if any(map(str.isalnum, part)):
            yield _OPENING.sub("", " ".join(part.split()).strip(_EDGES))


def _says_nothing(statement: str) -> bool:
    """Return whether a clause says that nothing was found, in its own words or about the passages."""
    if _SAYS_NOTHING.fullmatch(statement):
        return True
    none_sought = _NONE.match(statement) and _SPEAKS_OF_SOUGHT.search(statement)
    if _IN_PROMPT.search(statement):
        return bool(none_sought or _NOT_FOUND.search(statement))
    return bool(_IN_BARE.search(statement) and (none_sought or _NOT_SAID.match(statement)))
