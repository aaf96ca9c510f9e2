"""What attempts to steer a judge look like, from the patterns in `suspicion.toml`."""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :]?){16,}(?![0-9A-Fa-f])")
_ROT13 = re.compile(r"\b(?:vtaber|engr|engvat|whqtr|vafgehpgvbaf?|nafjre|cersre|orggre)\b", re.IGNORECASE)
_REVERSED = re.compile(r"\b(?:erongi|etar|gnitar|egduj|snoitcurtsni|rewsna|referp|retteb)\b", re.IGNORECASE)
_DISGUISED_WORDS = 2
_MIXTURE = 2
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns, ready to search with.

    Attributes:
        quick: Found in every text that any other pattern could match.
        talks_to_judge: What a decoded or hidden text says when it is meant for the judge.
        families: What a sentence of each family of attack says.
        telling: Verdict notations that honest answers do not use.
        notations: Verdict notations that honest answers use one of, never two.
    """

    quick: re.Pattern[str]
    talks_to_judge: re.Pattern[str]
    families: Mapping[str, re.Pattern[str]]
    telling: re.Pattern[str]
    notations: tuple[re.Pattern[str], ...]


@cache
def patterns() -> Patterns:
    """Read and compile the patterns once."""
    record = tomllib.loads((files("judges") / "suspicion.toml").read_text(encoding="utf-8"))
    words = record["words"]
    verdicts = record["verdicts"]
    return Patterns(
        quick=_any(record["quick"], {}, re.IGNORECASE),
        talks_to_judge=_any(record["talks_to_judge"], {}),
        families={family: _any(parts, words) for family, parts in record["families"].items()},
        telling=_any(verdicts["telling"], {}),
        notations=tuple(re.compile(part) for part in verdicts["notations"]),
    )


def family_of(sentence: str) -> str:
    """The family of attack that a sentence (its skeleton) belongs to, empty where none."""
    return next((family for family, pattern in patterns().families.items() if pattern.search(sentence)), "")


def structured(text: str) -> Iterator[tuple[int, int]]:
    """Lines of a text (in small letters) that hold verdicts in the notation of some judge."""
    known = patterns()
    kinds = [pattern for pattern in known.notations if pattern.search(text)]
    telling = known.telling.search(text) is not None
    if len(kinds) + telling < (1 if telling else _MIXTURE):
        return
    for line in _LINE.finditer(text):
        if any(pattern.search(line[0]) for pattern in (known.telling, *kinds)):
            yield line.start(), line.end()


def encoded(text: str) -> Iterator[tuple[int, int]]:
    """Spans that decode (base64, hexadecimal, ROT13, reversed) to something said to the judge."""
    meant = patterns().talks_to_judge
    for run, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        for match in run.finditer(text):
            if meant.search(decode(match[0])):
                yield match.start(), match.end()
    for line in _LINE.finditer(text):
        if any(len(pattern.findall(line[0])) >= _DISGUISED_WORDS for pattern in (_ROT13, _REVERSED)):
            yield line.start(), line.end()


def _any(parts: Iterable[str], words: Mapping[str, str], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """One pattern for several, with names in braces replaced by their words, twice deep at most."""
    text = "|".join(parts)
    for _ in range(2):
        text = re.sub(r"\{([A-Z]+)\}", lambda match: words[match[1]], text)
    return re.compile(text, flags)


def _from_base64(run: str) -> str:
    bare = run.rstrip("=")
    try:
        return _printable(
            base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_" if set(run) & set("-_") else None)
        )
    except (binascii.Error, ValueError):
        return ""


def _from_hex(run: str) -> str:
    return _printable(bytes.fromhex(re.sub(r"[ :]", "", run)))


def _printable(data: bytes) -> str:
    text = data.decode("utf-8", "replace").lower()
    return text if text.replace("\n", " ").isprintable() else ""
