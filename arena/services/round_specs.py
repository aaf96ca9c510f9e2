"""The judge that a round began with, or what about it is another one now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from data.errors import SpecError
from data.records import OrderPolicy, Round
from judges.spec import JudgeSpec

LONGEST_VALUE = 60


def round_spec(found: Round, load_spec: Callable[[str], JudgeSpec]) -> JudgeSpec:
    """The spec that a round began with.

    Raises:
        SpecError: Its files, or the endpoint of the settings, are not what they were; every setting
            that differs is named.
    """
    stored: Any = found.judge
    spec = load_spec(stored["source"]).using(order=OrderPolicy(stored["order"]))
    if spec.hash == stored["hash"]:
        return spec
    differing = "; ".join(_differences(stored, spec.canonical)) or "settings that it did not keep"
    raise SpecError(
        f"The judge {found.judge_name} is not what round {found.name} began with: {differing}.",
        advice="Restore its spec, prompt and endpoint (OPENAI_BASE_URL), or judge a new round.",
    )


def _differences(before: Mapping[str, Any], after: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Each setting that differs, with what it was and what it is; members of panels by name and number."""
    for name in sorted((before.keys() | after.keys()) - {"source", "hash"}):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        if name == "members" and isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            for number, (one, other) in enumerate(zip(was, now, strict=True), 1):
                yield from _differences(one, other, f"{place}member {number}: ")
        elif name == "prompt":
            yield f"{place}prompt (its text was changed)"
        else:
            yield f"{place}{name} was {_short(was)}, is {_short(now)}"


def _short(value: object) -> str:
    text = "not there" if value is None else str(value) if value != "" else "empty"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
