"""What attempts to steer a judge look like, from the patterns in `suspicion.toml`."""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}){12,}(?![0-9A-Fa-f])")
_ROT13 = ("vtaber", "engvat", "whqtr", "vafgehpgvba", "nafjre", "cersre", "orggre")
_REVERSED = ("erongi", "gnitar", "egduj", "snoitcurtsni", "rewsna", "referp", "retteb")
_DISGUISED_WORDS = 2
_MIXTURE = 2
_SHORTEST_RUN = 24
_LONG = "long"
_REMEMBERED = 1_024
_REMEMBERED_WORDS = 32_768
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Family:
    """A family of attack: words of which a sentence has one, and what it then says."""

    name: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns, ready to search with.

    Attributes:
        families: The families of attack.
        probes: Words of which a text has one wherever a sentence of it can belong to a family, each with
            the numbers of the families and the needs that it is part of.
        talks_to_judge: What a decoded or hidden text says when it is meant for the judge.
        needs: Words of which a text with verdicts in it has one.
        telling: Verdict notations that honest answers do not use.
        notations: Verdict notations that honest answers use one of, never two.
    """

    families: tuple[Family, ...]
    probes: Mapping[str, Sequence[tuple[int, str]]]
    talks_to_judge: re.Pattern[str]
    needs: tuple[str, ...]
    telling: re.Pattern[str]
    notations: tuple[re.Pattern[str], ...]


@cache
def patterns() -> Patterns:
    """Read and compile the patterns once."""
    record = tomllib.loads((files("judges") / "suspicion.toml").read_text(encoding="utf-8"))
    words = record["words"]
    verdicts = record["verdicts"]
    families = tuple(
        Family(name, tuple(family["needs"]), _any(family["patterns"], words))
        for name, family in record["families"].items()
    )
    return Patterns(
        families=families,
        probes=_probes(families),
        talks_to_judge=_any(record["talks_to_judge"], {}),
        needs=tuple(verdicts["needs"]),
        telling=_any(verdicts["telling"], {}),
        notations=tuple(re.compile(part) for part in verdicts["notations"]),
    )


def possible_in(text: str) -> tuple[Family, ...]:
    """The families that sentences of a text (its skeleton) can belong to, with the needs that it meets.

    Most answers meet few, which makes looking at their sentences quick.
    """
    known = patterns()
    # No probe has a space in it, and most words were met before.
    probes = {probe for word in set(text.split()) for probe in _probes_in(word)}
    met: dict[int, list[str]] = {}
    for probe in sorted(probes):
        for number, need in known.probes[probe]:
            met.setdefault(number, []).append(need)
    return tuple(
        [
            Family(known.families[number].name, tuple(met[number]), known.families[number].pattern)
            for number in sorted(met)
        ]
    )


def _probes(families: Sequence[Family]) -> Mapping[str, Sequence[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for number, family in enumerate(families):
        for need in family.needs:
            found.setdefault(_probe(need), []).append((number, need))
    return found


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _probes_in(word: str) -> tuple[str, ...]:
    """The probes that a word holds."""
    return tuple([probe for probe in patterns().probes if probe in word])


def needed_by(families: Iterable[Family]) -> tuple[str, ...]:
    """Words of which a sentence (its skeleton, quotations included) has one if it is in a family."""
    return tuple({_probe(need) for family in families for need in family.needs})


@lru_cache(maxsize=_REMEMBERED)
def _probe(need: str) -> str:
    """The word of a need to look for first: what is cut out of a text may join the words of a need."""
    return max(need.split(), key=len)


def family_of(sentence: str, families: Sequence[Family] | None = None) -> str:
    """The family of attack that a sentence (its skeleton) belongs to, empty where none.

    Args:
        sentence: The skeleton of a sentence.
        families: Those that `possible_in` the whole text; None for all.
    """
    for family in patterns().families if families is None else families:
        for word in family.needs:
            if word in sentence:
                if family.pattern.search(sentence):
                    return family.name
                break
    return ""


def structured(text: str) -> Iterator[tuple[int, int]]:
    """Lines of a text (in small letters) that hold verdicts in the notation of some judge."""
    known = patterns()
    if not [word for word in known.needs if word in text]:
        return
    kinds = [pattern for pattern in known.notations if pattern.search(text)]
    telling = known.telling.search(text) is not None
    if not telling and len(kinds) < _MIXTURE:
        return
    for line in _LINE.finditer(text):
        if any(pattern.search(line[0]) for pattern in (known.telling, *kinds)):
            yield line.start(), line.end()


def encoded(text: str) -> Iterator[tuple[int, int]]:
    """Spans that decode (base64, hexadecimal, ROT13, reversed) to something said to the judge."""
    meant = patterns().talks_to_judge
    hints = [hint for word in set(text.split()) for hint in _hints_in(word)]
    if not hints:
        return
    if _LONG in hints:
        for run, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
            for match in run.finditer(text):
                if meant.search(decode(match[0])):
                    yield match.start(), match.end()
    small = text.lower()
    for words in (_ROT13, _REVERSED):
        if len(set(words).intersection(hints)) >= _DISGUISED_WORDS:
            for line in _LINE.finditer(small):
                if sum(word in line[0] for word in words) >= _DISGUISED_WORDS:
                    yield line.span()


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _hints_in(word: str) -> tuple[str, ...]:
    """What in a word (a run without spaces) may be encoded: disguised words, or its length."""
    small = word.lower()
    found = [disguised for disguised in (*_ROT13, *_REVERSED) if disguised in small]
    return (*found, _LONG) if len(word) >= _SHORTEST_RUN else tuple(found)


def _any(parts: Iterable[str], words: Mapping[str, str]) -> re.Pattern[str]:
    """One pattern for several, with names in braces replaced by their words, twice deep at most."""
    text = "|".join(parts)
    for _ in range(2):
        text = re.sub(r"\{([A-Z]+)\}", lambda match: words[match[1]], text)
    return re.compile(text)


def _from_base64(run: str) -> str:
    bare = run.rstrip("=")
    try:
        return _printable(
            base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if set(run) & set("-_") else None)
        )
    except (binascii.Error, ValueError):
        return ""


def _from_hex(run: str) -> str:
    return _printable(bytes.fromhex(run))


def _printable(data: bytes) -> str:
    text = data.decode("utf-8", "replace").lower()
    return text if text.replace("\n", " ").isprintable() else ""
