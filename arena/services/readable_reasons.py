"""What a judge wrote of a lost battle, in words for the team that lost it.

The embedded judge leaves its reasons as JSON, as `judges` documents it; LLM judges leave text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

MOST_LISTED = 5
LONGEST = 2_000


def readable(rationale: str, *, side: str) -> str:
    """The reasons in words, at most 2,000 characters.

    Args:
        rationale: As the judge left it.
        side: The answer of whoever reads, `a` or `b`.
    """
    try:
        found = json.loads(rationale)
        ours, theirs = found[side], found["b" if side == "a" else "a"]
        text = "\n".join(_told(str(found["yardstick"]), ours, theirs))
    except (ValueError, KeyError, TypeError, AttributeError):
        text = rationale
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _told(yardstick: str, ours: Mapping[str, Any] | str, theirs: Mapping[str, Any] | str) -> Iterator[str]:
    if isinstance(ours, str):
        yield f"Your answer: {ours}"
        return
    other = "" if isinstance(theirs, str) else f", the other answer {float(theirs['coverage']):.0%}"
    covers = f"your answer covers {float(ours['coverage']):.0%} of the facts"
    yield f"Held against the {yardstick}, {covers}{other}."
    for title, sign, kind in (("It misses", "–", "missed"), ("It contradicts", "✗", "contradicted")):
        count = int(ours["counts"][kind])
        if count:
            listed = ours[kind][:MOST_LISTED]
            yield f"{title} {count}" + (", among them:" if count > len(listed) else ":")
            yield from (f"{sign} {fact['text']}" for fact in listed)
