r"""Parse citations in the styles that people and tools use.

Supported are `[1]`, `\[1\]`, `[1, 2]`, `[1-3]`, `[^1]`, `[doc 1]`, `[[1]](link)`, `<sup>1</sup>`, `$^{1}$`,
`(source 1)`, raised digits, `【1†source】` and `【4:1†source】` as in OpenAI's file search, a context's own
id in brackets (`[d7]`), and `(1)` after a statement if the contexts have numbers. Code, powers and years
are ignored. A superscript 2 or 3 after a word may be a power. It is a citation if the text has another
superscript that is certainly one, such as ¹ or ⁴.

Sources: Han et al. (2024), RAG-QA Arena, section 3.1 and table 12, whose writers cite documents as [1], [2]
or [3, 4]; https://platform.openai.com/docs/assistants/tools/file-search, whose sources count from 0.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

_GAP = r"[^\S\n]*+"
_FEW = r"[^\S\n]{0,4}+"
_LABEL = r"(?:(?:document|doc|passage|source|context|reference|ref|citation)s?[.:#_]?[^\S\n]?+)?+"
_ONE = rf"(?i:{_LABEL})\^?\d{{1,4}}(?:{_GAP}[-\u2013\u2014]{_GAP}\^?\d{{1,4}})?+(?!\d)"
_LINK = r"(?:\((?:https?://|#)[^\s()]{0,2000}+\))?+"
_AND = rf"{_GAP}(?:[,;\u3001\uff0c]|and\b|&){_GAP}"
_SEVERAL = rf"{_ONE}(?:{_AND}{_ONE})*+"
_NUMBERS = rf"\\?\[{_GAP}{_SEVERAL}{_GAP}(?:\u2020[^\[\]\n]{{0,200}})?\\?\]"
_NAMES = r"\[[^\[\]\n]{1,300}\]"
_LENTICULAR = r"\u3010[^\u3010\u3011\n]{1,300}\u3011"
_LABELLED = rf"\({_GAP}(?=[a-zA-Z]){_SEVERAL}{_GAP}\)"
_RAISED_TAG = rf"<sup>\s*(?:<a\b[^<>]{{0,200}}>)?\\?\[?{_SEVERAL}\\?\]?(?:</a>)?\s*</sup>"
_RAISED = "[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,2}(?![\u00b9\u00b2\u00b3\u2070-\u207f\\w])"
_RAISED_MATH = rf"\$\^(?:\{{{_GAP}\[?{_SEVERAL}\]?{_GAP}\}}|\d)\$"
_MARK = (
    rf"(?:\[{_NUMBERS}\]|{_NUMBERS}|\[{_NAMES}\]|{_NAMES}){_LINK}|{_LENTICULAR}|{_LABELLED}"
    rf"|{_RAISED_TAG}|{_RAISED}|{_RAISED_MATH}"
)
_STOP = r"(?<=[.!?\u3002])"
_IN_ROUND = rf"{_GAP}\({_GAP}({_SEVERAL}){_GAP}\)"
_ROUND = re.compile(rf"(?<=\S){_IN_ROUND}(?={_GAP}(?:[.,;:!?\u3002]|\(|\n|\Z))")
_ROUND_BEHIND_STOP = re.compile(rf"{_ROUND.pattern}|{_STOP}{_IN_ROUND}")
_ROUND_LAST = re.compile(rf"{_STOP}{_IN_ROUND}\s*\Z")
_ROUND_ITEM = re.compile(r"^[^\S\n]*+\(\d{1,2}\)", re.MULTILINE)
_COUNTED_THING = re.compile(
    r"(?i:equations?|eqs?|sections?|steps?|tables?|fig(?:ure)?s?|chapters?|parts?|items?|articles?|no|type|level)\.?\Z"
)
_APART = re.compile(r"(?:\A|\n[^\S\n]*+|[.!?,;:)\"'\u201d\u2019\u00bb\u2026\u3002*_>%])\Z")
_WORD_BEFORE = re.compile(
    r"(?:[^\W\d_]{3}|\d{4}|\b(?:a[mst]|b[ey]|do|go|h?e|i[nst]|me|no|o[fnr]|so|to|u[ps]|we))\Z", re.IGNORECASE
)
_BEFORE_FIRST = re.compile(r"(?:[^\W\d_]{2}|\d{4})\Z")
"""Words after which ¹ is a citation."""
_MEASURED = re.compile(r"\d\s?[^\W\d_]\Z")
_POWER_BEFORE = re.compile(
    r"(?:(?:\d|\bper|/)\s?[^\W\d_]+|\b(?:cos|exp|log|sin|tan|chi|mol|\w{0,5}met(?:er|re)s?))\Z", re.IGNORECASE
)
_SOURCE = re.compile(rf"(?:\d{{1,4}}:)?({_SEVERAL})")
_SPAN = re.compile(r"(\d+)(?:[^\S\n]*[-\u2013\u2014][^\S\n]*\^?(\d+))?")
_BODY = re.compile(r"\\?\[{1,2}([^\[\]]*?)\\?\]")
_ONLY_NUMBERS = re.compile(rf"\[?{_NUMBERS}")
_BETWEEN = re.compile(rf"{_FEW}(?:[,;]|,?{_FEW}(?:and|&))?{_FEW}")
_DASH = re.compile(rf"{_FEW}[-\u2013\u2014]{_FEW}")
_OPENED = re.compile(rf"(?<!\w)\((?:see |cf\. )?(?i:{_LABEL}){_FEW}\Z")
_CLOSED = re.compile(rf"{_FEW}\)")
_CODE = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)|`[^`\n]++`", re.DOTALL)
_NAME_BEFORE = re.compile(r"([A-Za-z_][\w.]{0,40}|[)\]])\Z")
_OPENING = re.compile("\\([a-zA-Z]|[\\[\u3010\u00b9\u00b2\u00b3\u2070\u2074-\u2079]|<sup>|\\$\\^")
_VARIABLES = frozenset({"arr", "argv", "sys.argv"})
_CODE_BEFORE = re.compile(r"(?:=[^\S\n]{0,4}(?:[A-Za-z_][\w.]{0,40})?|\w\()\Z")
_CODE_AFTER = re.compile(r"[^\S\n]{0,4}(?:(?:[-+*/%|&^=!<>]|//|\*\*)?=|\[['\"]|\.[a-z_]\w{0,40}\()")
_LINE = re.compile(r"^[^\S\n]*+(?=(.*))", re.MULTILINE)
_DEFINITION = re.compile(r":(?!\w)[^\S\n]*+(<?https?://)?")
_SPACE = " \t\u00a0"
_BLANKS = frozenset(_SPACE)
_FULL_WIDTH = str.maketrans("\uff3b\uff3d", "[]")
_CLOSING = ".,;:!?)]…\u3002！？｡，、؟،।။”»」』）"
MAX_RANGE = 100
MAX_RANGE_END = 999
"""Wider or later ranges are not citations; they may be years."""
FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Single numbers between these are years, unless there is such a context: "the treaty [1905]"."""
ENDS = 2
_LOOK = 60


@dataclass(frozen=True, slots=True)
class Citation:
    """Adjacent citations in a text.

    Attributes:
        start: Start, including parentheses around them.
        numbers: Positions of the cited contexts, from 1, with repeats; other numbers cite no context.
    """

    start: int
    end: int
    numbers: tuple[int, ...]


def citations(text: str, ids: Sequence[str] = ()) -> tuple[Citation, ...]:
    """Return the citations of a text, in order.

    Numbers are positions. If one of them is not a position and all are ids of contexts, they are ids, as for
    contexts named 0, 1, 2. Sources of file search count from 0 if one of them is 0.

    Args:
        text: An answer.
        ids: Ids of the contexts that it may cite, in order.
    """
    text = text.translate(_FULL_WIDTH)
    numbered = "(" in text and (bool(ids) and all(name.removeprefix("c").isdecimal() for name in ids))
    if not numbered and not _OPENING.search(text):
        return ()
    places = _places(ids)
    code = [match.span() for match in _CODE.finditer(text)] if "`" in text or "~~~" in text else []
    runs = list(_runs(text, _marks(text, places, code)))
    if not runs and numbered:
        runs = list(_runs(text, list(_round_marks(text, len(ids), code))))
    return _resolved(runs, places, len(ids))


def removed(text: str, marks: Sequence[Citation]) -> str:
    """Remove citations from a text, with a space left only between words."""
    parts, at = [], 0
    for mark in marks:
        before = text[at : mark.start]
        after = text[mark.end : mark.end + 1]
        if not after or after.isspace() or after in _CLOSING:
            before = before.rstrip(_SPACE)
        elif after.isalnum() and text[mark.start - 1 : mark.start].strip():
            before += " "
        parts.append(before)
        at = mark.end
        if mark.start == 0 or text[mark.start - 1] == "\n":
            while text[at : at + 1] in _BLANKS:
                at += 1
    return "".join((*parts, text[at:]))


def unknown_citations(text: str, ids: Sequence[str]) -> int:
    """Count the citations of a text without a matching context."""
    numbers = (number for citation in citations(text, ids) for number in citation.numbers)
    return sum(not 1 <= number <= len(ids) for number in numbers)


@dataclass(frozen=True, slots=True)
class _Mark:
    """Mark with its numbers, or with names, which are ids.

    Attributes:
        of_search: Whether it may count from 0.
        on_word: Whether it is a superscript after a word.
    """

    start: int
    end: int
    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    of_search: bool = False
    on_word: bool = False
    may_be_power: bool = False


def _places(ids: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, name in enumerate(ids, start=1):
        places[name] = 0 if name in places else place
    return places


@cache
def _marks_pattern() -> re.Pattern[str]:
    # Compiling takes 0.08 s, and most texts have no citation.
    return re.compile(_MARK)


def _marks(text: str, ids: Collection[str], code: Sequence[tuple[int, int]]) -> list[_Mark]:
    marks = []
    for match in _marks_pattern().finditer(text):
        if not _inside(match.start(), code):
            raised = match.group()[0] not in "([\\\u3010"
            mark = _read_raised(text, match, bool(ids)) if raised else _read(match, ids)
            marks += [mark] if mark is not None else []
    on_words = any(mark.on_word and not mark.may_be_power for mark in marks)
    return _without_definitions(text, [mark for mark in marks if on_words or not mark.may_be_power])


def _without_definitions(text: str, marks: Sequence[_Mark]) -> list[_Mark]:
    """Skip definitions, `[^1]: Source`, unless the text has no other marks."""
    defining, citing, line_end, cites = [], [], -1, False
    lines = {line.end(): line.end(1) for line in _LINE.finditer(text)}
    for mark in marks:
        definition = _DEFINITION.match(text, mark.end) if mark.start in lines else None
        if definition is None:
            citing.append(mark)
            cites = cites or mark.start > line_end
        else:
            line_end = lines[mark.start]
            defining += [] if definition[1] else [replace(mark, end=definition.end())]
    return citing if cites else sorted((*defining, *citing), key=lambda mark: mark.start)


def _read(match: re.Match[str], ids: Collection[str]) -> _Mark | None:
    whole = match.group()
    start, end = match.span()
    if whole.startswith("\u3010"):
        inner = whole[1:-1].split("\u2020", maxsplit=1)[0].strip()
        source = _SOURCE.fullmatch(inner)
        numbers = _numbers(source[1]) if source else ()
        names = () if numbers else _names(inner, ids)
        found_any = bool(numbers or names)
        return _Mark(start, end, numbers, names, of_search="\u2020" in whole) if found_any else None
    if whole.startswith("("):
        return _Mark(start, end, numbers) if (numbers := _numbers(whole)) else None
    body = _BODY.match(whole)
    inner = "" if body is None else body[1]
    names = _names(inner, ids)
    if names and not all(name.isdecimal() and name == str(int(name)) for name in names):
        return _Mark(start, end, names=names)
    if not _ONLY_NUMBERS.match(whole):
        return None
    numbers = _numbers(inner)
    return _Mark(start, end, numbers, of_search="\u2020" in whole) if numbers else None


def _read_raised(text: str, match: re.Match[str], has_contexts: bool) -> _Mark | None:
    """Parse a superscript, which is a power after a unit or a symbol."""
    before = text[max(0, match.start() - _LOOK) : match.start()]
    numbers = _numbers(unicodedata.normalize("NFKC", re.sub("<[^<>]*>", "", match.group())))
    if not numbers:
        return None
    if "[" in match.group() or "<a" in match.group() or _APART.search(before):
        return _Mark(*match.span(), numbers)
    if numbers[0] == 1:
        measured = has_contexts and _MEASURED.search(before)
        return (
            _Mark(*match.span(), numbers, on_word=True) if measured or _BEFORE_FIRST.search(before) else None
        )
    low = set(numbers) <= {2, 3}
    if not _WORD_BEFORE.search(before) or (low and _POWER_BEFORE.search(before)):
        return None
    return _Mark(*match.span(), numbers, on_word=True, may_be_power=low or before[-1].isdecimal())


def _names(inner: str, ids: Collection[str]) -> tuple[str, ...]:
    """Return the ids in brackets, separated by commas; none if one of them is not an id."""
    if inner.strip() in ids:
        return (inner.strip(),)
    several = tuple(part.strip() for part in re.split("[,;]", inner))
    return several if all(part in ids for part in several) else ()


def _numbers(inner: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last in _SPAN.findall(inner.split("\u2020", maxsplit=1)[0]):
        low, high = int(first), int(last or first)
        if not low <= high <= low + MAX_RANGE or (last and high > MAX_RANGE_END):
            return ()
        numbers += range(low, high + 1)
    return tuple(numbers)


def _round_marks(text: str, count: int, code: Sequence[tuple[int, int]]) -> Iterator[_Mark]:
    """Yield `(1)` before a stop or the end, and after full stops if the text ends with such a mark."""
    behind_stops = _ROUND_LAST.search(text) and not _ROUND_ITEM.search(text)
    for match in (_ROUND_BEHIND_STOP if behind_stops else _ROUND).finditer(text):
        numbers = _numbers(match[match.lastindex or 0])
        all_known = bool(numbers) and all(1 <= number <= count for number in numbers)
        counted = _COUNTED_THING.search(text[max(0, match.start() - _LOOK) : match.start()])
        if all_known and not counted and not _inside(match.start(), code):
            yield _Mark(match.end() - len(match.group().lstrip()), match.end(), numbers)


def _inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (place, place)) - 1
    return at >= 0 and place < spans[at][1]


def _runs(text: str, marks: Sequence[_Mark]) -> Iterator[tuple[int, int, list[_Mark]]]:
    """Group marks with only commas between them, and the parentheses around all of them."""
    at = 0
    while at < len(marks):
        run = [marks[at]]
        while at + len(run) < len(marks):
            before, after = run[-1], marks[at + len(run)]
            if _DASH.fullmatch(text, before.end, after.start) and _is_range(before, after):
                after = replace(after, numbers=tuple(range(before.numbers[0] + 1, after.numbers[0] + 1)))
            elif not _BETWEEN.fullmatch(text, before.end, after.start):
                break
            run.append(after)
        at += len(run)
        start, end = run[0].start, run[-1].end
        if not _is_code(text, start, end):
            yield *_with_parentheses(text, start, end), run


def _is_range(first: _Mark, last: _Mark) -> bool:
    """Return whether two marks with a dash between them are a range: `[1]–[3]`."""
    if len(first.numbers) != 1 or len(last.numbers) != 1:
        return False
    return first.numbers[0] < last.numbers[0] <= first.numbers[0] + MAX_RANGE


def _with_parentheses(text: str, start: int, end: int) -> tuple[int, int]:
    opened = _OPENED.search(text[max(0, start - _LOOK) : start])
    closed = _CLOSED.match(text, end)
    if opened is None or closed is None:
        return start, end
    return max(0, start - _LOOK) + opened.start(), closed.end()


def _is_code(text: str, start: int, end: int) -> bool:
    """Return whether brackets belong to code outside a code block, such as `x[1] = 3`."""
    if text[start] != "[":
        return False
    before, after = text[max(0, start - _LOOK) : start], text[end : end + _LOOK]
    if _CODE_BEFORE.search(before):
        return True
    name = _NAME_BEFORE.search(before)
    return name is not None and (_is_variable(name[1]) or _CODE_AFTER.match(after) is not None)


def _is_variable(name: str) -> bool:
    """Return whether a name is an identifier: one lower-case letter, or with an inner underscore."""
    one_letter = len(name) == 1 and name.isalpha() and name.islower()
    return one_letter or "_" in name.strip("_") or name in _VARIABLES


def _resolved(
    runs: Sequence[tuple[int, int, list[_Mark]]], places: dict[str, int], count: int
) -> tuple[Citation, ...]:
    marks = [mark for _, _, run in runs for mark in run]
    from_zero = any(mark.of_search and 0 in mark.numbers for mark in marks)
    numbers = {number + (mark.of_search and from_zero) for mark in marks for number in mark.numbers}
    in_order = all(1 <= number <= count for number in numbers)
    by_id = not in_order and all(str(number) in places for number in numbers)

    def places_of(mark: _Mark) -> Iterator[int]:
        for number in mark.numbers:
            counted = number + (mark.of_search and from_zero)
            yield places[str(counted)] if by_id else counted
        for name in mark.names:
            yield places[name]

    return tuple(
        Citation(start, end, tuple(number for mark in run for number in places_of(mark)))
        for start, end, run in runs
        if by_id or not (_is_interval(run) or _is_year(run, count))
    )


def _is_year(run: Sequence[_Mark], count: int) -> bool:
    return all(
        len(mark.numbers) == 1 and max(FIRST_YEAR, count + 1) <= mark.numbers[0] <= LAST_YEAR for mark in run
    )


def _is_interval(run: Sequence[_Mark]) -> bool:
    """Return whether brackets are an interval from 0, such as `[0, 1]`."""
    numbers = run[0].numbers
    return len(run) == 1 and len(numbers) == ENDS and numbers[0] == 0 and not run[0].of_search
