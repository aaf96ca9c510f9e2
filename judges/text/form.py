"""How a text is laid out in Markdown: headings, bold spans, items of lists, and citations in brackets.

What stands in fenced code counts for nothing. Source of the counted marks: Li, Angelopoulos & Chiang, "Does
style matter?", LMSYS blog, 28 August 2024; citations as RAG systems write them, [1] or [1, 3].
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++\S", re.MULTILINE)
BOLD = re.compile(r"\*\*[^*\n]++\*\*|__[^_\n]++__")
ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++\S", re.MULTILINE)
CITED = re.compile(r"\[\d{1,4}(?: ?[,;] ?\d{1,4})*+\]")
FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How often a text has each mark; `citations` counts every cited number, so that [1, 3] is two."""

    headings: int
    bold: int
    lists: int
    citations: int


def form_of(text: str) -> Form:
    """Count the marks of a text, in time proportional to its length."""
    plain = _without_code(text)
    return Form(
        headings=len(HEADING.findall(plain)) if "#" in plain else 0,
        bold=len(BOLD.findall(plain)) if "**" in plain or "__" in plain else 0,
        lists=len(ITEM.findall(plain)),
        citations=sum(1 + cited.count(",") + cited.count(";") for cited in CITED.findall(plain))
        if "[" in plain
        else 0,
    )


def _without_code(text: str) -> str:
    """The lines outside of fenced code; an open fence lasts to the end."""
    if not any(fence in text for fence in FENCES):
        return text
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = next((mark for mark in FENCES if line.lstrip(" ").startswith(mark)), "")
        if not fence and not mark:
            lines.append(line)
        elif mark and fence in {"", mark}:
            fence = "" if fence else mark
    return "\n".join(lines)
