"""What may bias a round's judge: how answers are laid out, their order, and perhaps its own family."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from data.citations import citations
from data.records import BattleColumns, JudgeKind, Round, Submission
from data.store import Store
from leaderboard.families import UNKNOWN, family_of
from leaderboard.standings.covariates import JudgeContext
from leaderboard.vocabulary import Covariate

EMBEDDED = "The embedded judge weighs each answer by itself, so which is shown first cannot bias it."
NO_LLM = "The embedded judge is no LLM, so no system is of its family."
UNREAD = "No battle was read by an LLM, so none was shown in an order."
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++\S", re.MULTILINE)
BOLD = re.compile(r"\*\*[^*\n]++\*\*|__[^_\n]++__")
ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++\S", re.MULTILINE)
FENCES = ("```", "~~~")


def style_features(text: str) -> Mapping[Covariate, int]:
    """Count how a text is laid out in Markdown, in time proportional to its length.

    What stands in fenced code counts for nothing, and every cited number counts, so that [1, 3] is two.

    Returns:
        Headings, bold spans, items of lists, and citations in brackets.

    Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024; citations as RAG
    systems write them.
    """
    plain = _without_code(text)
    return _counts(
        len(HEADING.findall(plain)) if "#" in plain else 0,
        len(BOLD.findall(plain)) if "*" in plain or "_" in plain else 0,
        len(ITEM.findall(plain)) if "\n" in plain else int(ITEM.match(plain) is not None),
        sum(len(cited.numbers) for cited in citations(plain)),
    )


def judge_context_of(
    store: Store, found: Round, battles: BattleColumns, entrants: Sequence[Submission]
) -> JudgeContext:
    """What the judge of a round saw, of its judged battles in the order of the table that is rated."""
    families = {side.system: family_of(side.card.model) or family_of(side.system) for side in entrants}
    models = tuple(_models(found.judge))
    if not models:
        return JudgeContext(no_position=EMBEDDED, no_family=NO_LLM, families=families)
    position = store.verdicts.positions(found.name)[battles.preference >= 0]
    # What no LLM read, such as an empty answer, was settled whatever the order.
    return JudgeContext(
        position=None if np.isnan(position).all() else np.nan_to_num(position),
        no_position=UNREAD,
        no_family=why_no_family(models, families),
        families=families,
    )


def why_no_family(models: Sequence[str], families: Mapping[str, str]) -> str:
    """Why a round does not tell how far its judge favours its own family, with who is of it."""
    own = sorted({family for model in models if (family := family_of(model)) != UNKNOWN})
    if not own:
        return f"The family of the judge's model ({', '.join(models)}) is not known."
    counts = Counter(families.values())
    unknown = f" {counts[UNKNOWN]} of {len(families)} systems are of no known family." * bool(counts[UNKNOWN])
    kin = sum(counts[family] for family in own)
    if not kin:
        return f"No system is known to be of the judge's family ({', '.join(own)}).{unknown}"
    return (
        f"{kin} of {len(families)} systems are of the judge's family ({', '.join(own)}), and the same judge "
        "read all their battles: how far it favours them cannot be told from how good they are. Battles of "
        "judges of several families can tell (`arena battles rate --method style`, column a_same_family)."
        f"{unknown}"
    )


def _models(judge: Mapping[str, Any]) -> Iterator[str]:
    """The LLMs of a canonical judge spec, those of a panel's members too."""
    if judge["kind"] == JudgeKind.LLM:
        yield str(judge.get("model") or "")
    for member in judge.get("members") or ():
        yield from _models(member)


@lru_cache(maxsize=4096)
def _counts(headings: int, bold: int, lists: int, citations: int) -> Mapping[Covariate, int]:
    return MappingProxyType(
        {
            Covariate.HEADINGS: headings,
            Covariate.BOLD: bold,
            Covariate.LISTS: lists,
            Covariate.CITATIONS: citations,
        }
    )


def _without_code(text: str) -> str:
    """The lines outside of fenced code; an open fence lasts to the end."""
    if FENCES[0] not in text and FENCES[1] not in text:
        return text
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = next((mark for mark in FENCES if line.lstrip(" ").startswith(mark)), "")
        if not fence and not mark:
            lines.append(line)
        elif mark and fence in {"", mark}:
            fence = "" if fence else mark
    return "\n".join(lines)
