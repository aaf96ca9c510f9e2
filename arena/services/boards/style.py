"""Style of answers and order of presentation, which may bias a round's judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from data.models import BattleColumns, JudgeKind, Round
from data.store import Store
from leaderboard.standings.style import JudgeContext
from leaderboard.vocabulary import Covariate

EMBEDDED = "The embedded judge weighs each answer by itself, so which is shown first cannot bias it."
UNREAD = "No battle was read by an LLM, so none was shown in an order."
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++\S", re.MULTILINE)
BOLD = re.compile(r"\*\*[^*\n]++\*\*|__[^_\n]++__")
ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++\S", re.MULTILINE)
FENCED = re.compile(r"^ *(```|~~~).*?(?:\n *\1[^\n]*|\Z)", re.MULTILINE | re.DOTALL)
"""Fenced code; an open fence lasts to the end."""


def style_features(text: str) -> Mapping[Covariate, int]:
    """Count headings, bold spans and items of lists in Markdown, outside of fenced code.

    Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024.
    """
    plain = FENCED.sub("", text)
    return _counts(
        len(HEADING.findall(plain)) if "#" in plain else 0,
        len(BOLD.findall(plain)) if "*" in plain or "_" in plain else 0,
        len(ITEM.findall(plain)) if "\n" in plain else int(ITEM.match(plain) is not None),
    )


def judge_context_of(store: Store, found: Round, battles: BattleColumns) -> JudgeContext:
    """The order in which a round's judge saw its judged battles, as the table that is rated has them."""
    if not any(_asks_llm(found.judge)):
        return JudgeContext(no_position=EMBEDDED)
    position = store.verdicts.positions(found.name)[battles.preference >= 0]
    # What no LLM read, such as an empty answer, was settled whatever the order.
    return JudgeContext(
        position=None if np.isnan(position).all() else np.nan_to_num(position), no_position=UNREAD
    )


def _asks_llm(judge: Mapping[str, Any]) -> Iterator[bool]:
    """Whether a canonical judge spec, or a member of its panel, asks an LLM."""
    yield judge["kind"] == JudgeKind.LLM
    for member in judge.get("members") or ():
        yield from _asks_llm(member)


@lru_cache(maxsize=4096)
def _counts(headings: int, bold: int, lists: int) -> Mapping[Covariate, int]:
    return MappingProxyType({Covariate.HEADINGS: headings, Covariate.BOLD: bold, Covariate.LISTS: lists})
