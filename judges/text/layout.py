"""Strip markup from a text: Markdown, HTML, list marks, tables, links and wrapped lines.

The result is a list of blocks of plain text: paragraphs, list items, rows and headings. Code, and text that
only looks like markup ("p. 1. He", "3. Oktober", "2 * 3 * 4"), stays unchanged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from data.declines import fold
from judges.text.languages import ABBREVIATIONS, LISTS

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Unicode's default ignorable characters."""
CITED = "\U00100000-\U0010fffd"
"""Private characters that replace citations during parsing."""
ENDS = ".!?…。！？｡؟।"
CLOSERS = r"\"'”’»)\]』」"
MONTHS = frozenset(LISTS["months"].split())
"""German months, folded: "3. Oktober" is a date, not a list item."""
_CODED = re.compile("[\U000f0000-\U000ffffd]")
_CODE = re.compile(
    r"^[ \t]*(`{3,}+|~{3,}+)([^\n]*+)\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)|(?<!`)(`{1,3})(?!`)([^`\n]+)\4(?!`)",
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(
    r"<(/?)(article|blockquote|br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|section|t[dhr]|table|tbody|thead|ul"
    r"|a|abbr|b|big|cite|code|del|em|font|i|ins|kbd|label|mark|q|s|small|span|strong|sub|sup|tt|u|var)"
    r"(?:\s[^<>]{0,400})?/?>|<!--.{0,500}?-->",
    re.IGNORECASE | re.DOTALL,
)
_OPENED = {"li": "\n\n- ", "th": "\n\n# ", "td": " ", "br": "\n"} | {f"h{n}": "\n\n# " for n in range(1, 7)}
_BREAKS = re.compile(r"article|blockquote|dd|div|dl|dt|hr|ol|p|pre|section|tr|table|tbody|thead|ul")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});", re.IGNORECASE)
_ADDRESS = r"(?:https?://|mailto:|www\.|[#/.]|[\w-]+\.\w)[^()\s]*(?:\([^()\s]*\)[^()\s]*)*"
_LINK = re.compile(rf"!?\[([^\[\]\n]*)\]\(<?{_ADDRESS}(?:\s+\"[^\"\n]*\")?\)")
_LINK_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]{1,80}\]:\s*<?https?://.*$", re.MULTILINE)
_DEFINITION = re.compile(
    rf"{_LINK_DEFINITION.pattern}|^[ \t]*\[(?:\^[^\]\n]{{1,80}}|\d{{1,3}})\]:.*$", re.MULTILINE
)
"""A line that defines a mark: `[^1]: Source`."""
_REFERS = re.compile(rf"[{CITED}]|\[\^")
_SOURCES = re.compile(
    r"\n[ \t]*(?:#{1,6}[ \t]+|\*\*|__)?(?:bibliography|citations?|footnotes?|quellen|references?|sources?)"
    rf":?(?:\*\*|__)?:?[ \t]*(?:\n[ \t]*(?:[-*+][ \t]+)?[{CITED}][^\n]*|\n[ \t]*)+\Z",
    re.IGNORECASE,
)
"""A list of sources at the end, each after its mark."""
_FOOT_SIGN = re.compile(rf"\^(?=[{CITED}])|(?<=[{CITED}])\^|(?<=[{ENDS}])[†‡]")
_KEYCAP = re.compile(r"(?<=\d)\u20e3")
_BOLD_LINE = re.compile(r"^[ \t]*(\*\*|__)(?=\S)([^*_\n]{1,120})\1(:?)[ \t]*$", re.MULTILINE)
_DELIMITER = re.compile(r"\*{1,3}|_{1,3}|~~|==|\n[ \t]*\n")
_IDENTIFIER = re.compile(r"[a-z0-9_]+")
_ESCAPE = re.compile(r"\\([*_\[\]{}()#>~`.+!|-])")
_NUMBER = re.compile(
    rf"(?<![^\s>|{CITED}])(\(?)((?i:step|schritt|étape|paso)\s)?"
    r"(\d{1,2}|[a-z]|[A-Z]|[ivx]{2,5}|[IVX]{2,5})\\?([.):])\s+(?=(\S[^\W\d_]*))"
)
_BEGINS_LINE = re.compile(r"(?:\A|\n)[\s>*+|•#-]*\Z")
_BEHIND_END = re.compile(rf"(?:\A|[{CITED}]|[{ENDS}:;,][{CLOSERS}]*)\s*\Z")
_LAST_WORD = re.compile(r"(?<!\w)(\w+)\.\s*\Z")
_LOOK = 80
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_SIGNS = "•‣◦▪●○■□▶►➤"
_COUNTED = "①-⑳❶-❿"
_INLINE_SIGN = re.compile(rf"(?:^|(?<=\s))[{_SIGNS}]\s*|[{_COUNTED}]\s*")
_INLINE_DASH = re.compile(rf"(?<=[{ENDS}{CLOSERS}{CITED}])[^\S\n]+[-–*+][^\S\n]+(?=[A-Z])")
_OPENS_DASHES = re.compile(r"(?:\A|:)[^\S\n]*[-–*+]\s")
_BEHIND_STOP = re.compile(rf"[{ENDS}][\"'”’»」』{CITED}\s]*\Z")
_BULLET = re.compile(r"^(?:[-*+–—→✓✔✅]\s+(?:\[[ xX]\]\s+)?)+")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_QUOTE = re.compile(r"^(?:\s{0,3}>)+")
_RULE = re.compile(r"^[\s|:*_=\-+#~]*$")
_UNDERLINE = re.compile(r"(?<![=-])(?:={3,}+|-{3,}+)$")
_PROSE = re.compile(
    r"[A-Za-z\u00c0-\u024f \d,.;:'\"\u2018\u2019\u201c\u201d\u2013\u2014!?()/%$@\n-]++", re.ASCII
)
"""Characters without a meaning in markup, except in the marks of lists."""
_LISTED = re.compile(r"[\s(](?:(?:[A-Za-z\d]\d?|[ivxIVX]{2,5})[.):]\s|[-\u2013]|(?<=\n)[\u2014 ])", re.ASCII)
"""Possible marks of lists; the text must begin with a line break."""
MIN_WRAPPED = 50
"""Minimum length of a line that may be wrapped before a capital."""


@dataclass(slots=True)
class Block:
    """A paragraph, list item, table row or heading; a heading does not end with a full stop."""

    text: str
    heading: bool = False


def is_prose(text: str) -> bool:
    """Return whether each block of a text is one line without markup, so that it needs no parsing."""
    plain = _PROSE.fullmatch(text) and "\n" not in text.replace("\n\n", "")
    return bool(plain) and not _LISTED.search(f"\n{text}")


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a text without markup."""
    code: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        body = match[3] or match[5] or ""
        code.append(" ".join(_left(body, match[2] or body).split()))
        return ("\n\n{}\n\n" if match[1] else "{}").format(chr(0xF0000 + min(len(code) - 1, 0xFFFD)))

    plain = INVISIBLE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if "`" in plain or "~~~" in plain:
        plain = _CODE.sub(put_aside, _CODED.sub("\ufffd", plain))
    if "<" in plain:
        plain = _TAG.sub(_break_of, plain)
    if "&" in plain:
        plain = _ENTITY.sub(lambda match: unescape(match[0]).replace("\u00a0", " "), plain)
    plain = _KEYCAP.sub(")", _FOOT_SIGN.sub("", _left(_SOURCES.sub("", plain), plain)))
    if "]" in plain:
        plain = _LINK.sub(r"\1", _without_definitions(plain))
    plain = _without_emphasis(plain)
    dashed = "\n".join(map(_without_dashes, _INLINE_SIGN.sub("\n\n- ", plain).split("\n")))
    blocks = _lines(_without_numbers(dashed))
    for block in blocks:
        if "\\" in block.text:
            block.text = _ESCAPE.sub(r"\1", block.text)
        if code:
            block.text = _CODED.sub(lambda match: code[ord(match[0]) - 0xF0000], block.text)
        block.heading = block.heading and not ends_sentence(block.text)
    return blocks


def _left(rest: str, text: str) -> str:
    return rest if any(map(str.isalnum, rest)) else text


def _without_definitions(text: str) -> str:
    """Remove definitions of links, and of footnotes that are referenced, unless nothing would remain."""
    rest = _DEFINITION.sub("", text)
    return _left(rest if _REFERS.search(rest) else _LINK_DEFINITION.sub("", text), text)


def _without_dashes(line: str) -> str:
    """Replace dashes between items with breaks: in lines that begin with a dash, or after full stops."""
    if _OPENS_DASHES.search(line):
        return _INLINE_DASH.sub("\n\n- ", line)
    places = [match.span() for match in _INLINE_DASH.finditer(line) if _is_behind_stop(line, match.start())]
    return _cut_out(line, [(*place, "\n\n- ") for place in places])


def _is_behind_stop(text: str, at: int) -> bool:
    before = text[max(0, at - _LOOK) : at]
    return bool(_BEHIND_STOP.search(before)) and not _is_abbreviated(before)


def _is_abbreviated(before: str) -> bool:
    last = _LAST_WORD.search(before)
    return last is not None and (len(last[1]) == 1 or last[1].casefold() in ABBREVIATIONS)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends a sentence, ignoring closing quotes and citations."""
    bare = re.sub(rf"(?<![\s{CITED}{CLOSERS}])[\s{CITED}{CLOSERS}]++\Z", "", text)
    return bare[-1:] in ENDS


def _break_of(tag: re.Match[str]) -> str:
    """Return the break, bullet or heading mark of an HTML tag; empty for inline tags."""
    name = (tag[2] or "").lower()
    if name in _OPENED:
        return _OPENED[name] if not tag[1] else "" if name in {"td", "br"} else "\n\n"
    return "\n\n" if _BREAKS.fullmatch(name) else ""


def _without_emphasis(text: str) -> str:
    """Remove pairs of emphasis delimiters; an unclosed delimiter stays."""
    if not any(mark in text for mark in ("*", "_", "~~", "==")):
        return text
    text = _BOLD_LINE.sub(r"# \2\3", text)
    openings: dict[str, int] = {}
    cuts: list[tuple[int, int]] = []
    for match in _DELIMITER.finditer(text):
        mark, (start, end) = match[0], match.span()
        if mark[0] == "\n":
            openings.clear()
            continue
        before, after = text[start - 1 : start], text[end : end + 1]
        if "\\" in {before, after} or mark[0] in {before, after}:
            continue
        closes = before.strip() and not (after.isascii() and after.isalnum())
        begins = openings.get(mark)
        if closes and begins is not None:
            del openings[mark]
            if mark[0] != "_" or not _IDENTIFIER.fullmatch(text, begins + len(mark), start):
                cuts += [(begins, begins + len(mark)), (start, end)]
        elif after.strip() and not (before.isascii() and before.isalnum()):
            openings[mark] = start
    return _cut_out(text, [(start, end, "") for start, end in sorted(cuts)])


def _cut_out(text: str, pieces: list[tuple[int, int, str]]) -> str:
    def parts() -> Iterator[str]:
        at = 0
        for start, end, replacement in pieces:
            yield text[at:start] + replacement
            at = end
        yield text[at:]

    return "".join(parts()) if pieces else text


@dataclass(frozen=True, slots=True)
class _Item:
    """The number of a list item, its position and its context."""

    start: int
    end: int
    value: int
    mark: str
    closed: bool
    begins_line: bool
    behind_end: bool
    following: str


def _without_numbers(text: str) -> str:
    """Replace the numbers and letters of lists with breaks, at line starts and in running text.

    Consecutive marks from the first on count; at line starts also a single "1." or "3)".
    """
    runs: list[list[_Item]] = []
    open_runs: dict[tuple[str, ...], list[_Item]] = {}
    for match in _NUMBER.finditer(text):
        bracket, word, mark, end, following = match.groups()
        if (end == ":" and not word) or (bracket and end != ")"):
            continue
        before = text[max(0, match.start() - _LOOK) : match.start()]
        behind = bool(_BEHIND_END.search(before)) and not _is_abbreviated(before)
        for kind, value in _values(mark):
            style = (bracket, "step" if word else "", kind, end)
            item = _Item(
                *match.span(), value, mark, end == ")", bool(_BEGINS_LINE.search(before)), behind, following
            )
            run = open_runs.get(style, [])
            if run and value == run[-1].value + 1 and _goes_on(item, style):
                run.append(item)
                break
            if item.begins_line or (value == 1 and behind):
                open_runs[style] = [item]
                runs.append(open_runs[style])
    marks = sorted({item.start: item for run in runs for item in run if _is_mark(item, run)}.items())
    pieces = []
    for _, item in marks:
        in_text = item.following[:1].islower() and not item.begins_line
        pieces.append((item.start, item.end, "" if in_text else "\n\n- "))
    return _cut_out(text, pieces)


def _values(mark: str) -> list[tuple[str, int]]:
    """Return the possible values of a mark by kind: "i" is the ninth letter and the first numeral."""
    if mark.isdigit():
        return [("1", int(mark))]
    case = "a" if mark.islower() else "A"
    letter = [(case, ord(mark) - ord(case) + 1)] if len(mark) == 1 else []
    numeral = [(f"{case} roman", _ROMAN.index(mark.lower()) + 1)] if mark.lower() in _ROMAN else []
    return [*numeral, *letter]


def _goes_on(item: _Item, style: tuple[str, ...]) -> bool:
    """Return whether the next number continues the list; initials do not."""
    initial = style[2][0] == "A" and style[3] == "."
    return item.begins_line or (item.behind_end and not initial)


def _is_mark(item: _Item, run: list[_Item]) -> bool:
    if len(run) > 1 and run[0].value == 1:
        return True
    # "3. Oktober" and "1. FC Union" also begin lines.
    name = fold(item.following) in MONTHS or (item.following.isupper() and len(item.following) > 1)
    lone = item.begins_line and not item.mark.isupper() and (item.value == 1 or item.closed)
    return (len(run) > 1 or lone) and not name


def _lines(text: str) -> list[Block]:
    """Join wrapped lines, but not list items, headings, table rows and lines after a blank line."""
    blocks: list[Block] = []
    lines = [_QUOTE.sub("", line).strip() for line in text.split("\n")]
    joinable = in_table = numbered = False
    for at, line in enumerate(lines):
        if _RULE.match(line):
            if blocks and joinable and ("|" in line or _UNDERLINE.match(line)):
                blocks[-1].heading = True
            joinable, in_table = False, "|" in line
            continue
        heading = _HEADING.match(line)
        body = heading[1].rstrip("# ") if heading else line
        titles = "|" in body and "|" in _separator(lines, at + 1)
        row = in_table or body.startswith("|") or titles
        if row:
            first, *rest = [cell.strip() for cell in re.split(r"(?<!\\)\|", body.strip("|"))]
            numbered = first.casefold().strip(".") in {"#", "no", "nr"} if titles else numbered
            body = " ".join(rest if numbered and first.strip(".)").isdecimal() else [first, *rest])
        bullet = _BULLET.match(body)
        body = body[bullet.end() :] if bullet else body
        if blocks and body and not body.strip(f"{''.join(re.findall(f'[{CITED}]', body))} "):
            # Citations on their own line belong to the block above.
            blocks[-1].text += f" {body}"
        elif blocks and joinable and not (bullet or heading or row) and _continues(lines, at):
            blocks[-1].text += f" {body}"
        elif body.strip():
            blocks.append(Block(body.strip(), bool(heading)))
        joinable = not heading
    return blocks


def _separator(lines: list[str], at: int) -> str:
    return lines[at] if at < len(lines) and _RULE.match(lines[at]) else ""


def _continues(lines: list[str], at: int) -> bool:
    """Return whether a line continues the previous one: lower case, or a wrapped line."""
    line, before = lines[at], lines[at - 1]
    if line[:1].islower() or line[:1] in "([,;":
        return True
    width = max(map(len, lines[max(0, at - 2) : at + 2]))
    full = len(before) + 1 + len(line.split()[0]) > width
    return len(before) >= MIN_WRAPPED and full and not ends_sentence(before) and before[-1:] != ":"
