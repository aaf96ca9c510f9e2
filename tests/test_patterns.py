"""Every regular expression of the product takes time linear in the text.

Only this test depends on time: it takes the processor time of its own thread and compares a pattern with
itself, so that a busy machine changes nothing. Texts that are quick by the clock are not measured.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from data.models import Reply
from tests.attack_strings import Attack, attacks
from tests.cases import cases

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("arena", "data", "judges", "leaderboard", "submissions")
# Calls that compile a pattern, and the position of their flags.
SEARCHES = ("search", "match", "fullmatch", "findall", "finditer")
FLAGS = {"compile": 1, **dict.fromkeys(SEARCHES, 2), "split": 3, "sub": 4, "subn": 4}
LONGEST = 100_000
# Initial repetitions, so that an exponential pattern shows before it hangs; seconds that prove it.
FIRST = (4, 8, 12, 16, 18, 20, 22, 24, 28, 34, 48, 64, 128)
FEW = 2_000
HOPELESS = 0.05
SCREENED = (500, 2_000)
NOTICED = 3e-4
TIMED = 4e-3
# Between n and 4n linear work grows by 4, quadratic work by 16; between n and 2n by 2 and by 4.
STEEP = 7.0
CLEAR = 5.0
STEEP_STEP = 2.5
# Linear patterns take less per character; so little time measures the machine, not the pattern.
SECONDS_A_CHARACTER = 3e-7
BEST_OF = 5
# So much time is no accident of the machine, and is not measured again.
ENOUGH = 0.2
SLOWEST = 5
"""Slowest texts by the clock, among which processor time finds the slowest."""
MOST = 10
"""Maximum number of tested patterns per file; of longer lists, evenly spaced ones."""
PARTS = 8
"""Number of tests that share the longest list, to cover all of it."""


def _calls(path: Path) -> list[ast.Call]:
    """Yield the calls in a file that compile a pattern."""
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in FLAGS
    ]


FILES = tuple(path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if _calls(path))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _module(path: Path) -> ModuleType:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return importlib.import_module(".".join(parts).removesuffix(".__init__"))


def _held(value: object, depth: int = 5) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value, at any depth."""
    if isinstance(value, re.Pattern):
        yield value
    elif hasattr(value, "cache_info") and callable(value) and depth:
        if not inspect.signature(value).parameters:
            yield from _held(value(), depth - 1)
    elif isinstance(value, Mapping) and depth:
        yield from (pattern for item in value.values() for pattern in _held(item, depth - 1))
    elif isinstance(value, list | tuple | set | frozenset) and depth:
        yield from (pattern for item in value for pattern in _held(item, depth - 1))
    elif is_dataclass(value) and not isinstance(value, type) and depth:
        lazy = [name for name, member in vars(type(value)).items() if isinstance(member, cached_property)]
        names = [*(part.name for part in fields(value)), *(name for name in lazy if name == "pattern")]
        yield from (pattern for name in names for pattern in _held(getattr(value, name), depth - 1))


def _score_patterns() -> None:
    scoring = importlib.import_module("judges.llm.replies")
    reply = Reply(
        key="k", endpoint="e", model="m", text='{"score": 1}', logprobs='[{"token": "1", "logprob": 0}]'
    )
    scoring.weighted_score(reply, "score", (0, 1, 2))


def _placeholder_patterns() -> None:
    exact = importlib.import_module("judges.pairwise.literal")
    prompt = exact.LiteralPrompt(ask="{q}{p}", placeholders={"question": "{q}", "passages": "{p}"})
    prompt.fill({"question": "q"})


def _verdict_patterns() -> None:
    detector = importlib.import_module("data.steering.detector")
    verdicts = detector.record("patterns")["verdicts"]
    list(detector._line_patterns("", " ".join([*verdicts["signs"], *verdicts["words"]])))


def _rule_patterns() -> None:
    grammar = importlib.import_module("data.steering.rules").Grammar()
    for source in (grammar.weak.pattern, *(rule.source for rule in grammar.rules)):
        re.compile(source)


def _decline_patterns() -> None:
    importlib.import_module("data.declines").Lists()


def _key_patterns() -> None:
    importlib.import_module("judges.llm.redaction").Redaction(["sk-abcdefghijklmnopqrstuvwxyz"])


BUILT: Mapping[str, Callable[[], object]] = {
    "data/declines.py": _decline_patterns,
    "data/steering/detector.py": _verdict_patterns,
    "data/steering/rules.py": _rule_patterns,
    "judges/llm/redaction.py": _key_patterns,
    "judges/llm/replies.py": _score_patterns,
    "judges/pairwise/literal.py": _placeholder_patterns,
}


def _written(module: ModuleType, call: ast.Call) -> re.Pattern[Any] | None:
    """Return the pattern of a call; None if it uses local names of a function."""
    place = FLAGS[call.func.attr] if isinstance(call.func, ast.Attribute) else 0
    given = [call.args[0], *call.args[place : place + 1]]
    given += [word.value for word in call.keywords if word.arg == "flags"]
    try:
        # The evaluated code is the product's own, as in an import.
        code = [compile(ast.Expression(node), "<pattern>", "eval") for node in given]
        return re.compile(*(eval(part, dict(vars(module))) for part in code))  # noqa: S307
    except NameError:
        return None


def _patterns(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[re.Pattern[Any]]:
    """Return all patterns of a file: constants, literals in calls, and those built in functions."""
    module = _module(path)
    patterns = [pattern for value in list(vars(module).values()) for pattern in _held(value)]
    for call in _calls(path):
        pattern = _written(module, call)
        assert pattern or call.col_offset == 0 or _name(path) in BUILT or _at_top(path, call), (
            f"{_name(path)}:{call.lineno} builds a pattern in a function; say in BUILT how to get it"
        )
        patterns += [pattern] if pattern else []
    if _name(path) in BUILT:
        compiled: list[re.Pattern[Any]] = []
        original = re._compile  # type: ignore[attr-defined]  # private: every way to compile ends there

        def compile_and_keep(*given: Any) -> re.Pattern[Any]:  # noqa: ANN401 - what `re` was given
            pattern: re.Pattern[Any] = original(*given)
            compiled.append(pattern)
            return pattern

        monkeypatch.setattr(re, "_compile", compile_and_keep)
        BUILT[_name(path)]()
        monkeypatch.undo()
        patterns += compiled
    return list({(pattern.pattern, pattern.flags): pattern for pattern in patterns}.values())


def _at_top(path: Path, call: ast.Call) -> bool:
    """Return whether a call is at module level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return not any(node.lineno <= call.lineno <= (node.end_lineno or 0) for node in functions)


def _search_all(pattern: re.Pattern[Any], text: Any) -> object:  # noqa: ANN401 - str or bytes, as the pattern is
    return sum(1 for _ in pattern.finditer(text))


def _match_whole(pattern: re.Pattern[Any], text: Any) -> object:  # noqa: ANN401 - as above
    return pattern.fullmatch(text)


Use = Callable[[re.Pattern[Any], Any], object]
USES: tuple[Use, ...] = (_search_all, _match_whole)


@dataclass
class Trial:
    """Use of a pattern on one kind of text."""

    pattern: re.Pattern[Any]
    use: Use
    attack: Attack
    screened: float = 0.0

    def seconds(self, length: int, times: int = 1) -> float:
        """Return the least processor time for a text of this length, over some repetitions or seconds."""
        text = self._text(length)
        taken: list[float] = []
        while len(taken) < times and sum(taken) < ENOUGH:
            start = time.thread_time()
            self.use(self.pattern, text)
            taken.append(time.thread_time() - start)
        return min(taken)

    def bound(self, length: int) -> float:
        """Return the elapsed time, an upper bound that is quicker to read."""
        text = self._text(length)
        start = time.perf_counter()
        self.use(self.pattern, text)
        return time.perf_counter() - start

    def _text(self, length: int) -> str | bytes:
        text: str = self.attack.text(length)
        return text.encode() if isinstance(self.pattern.pattern, bytes) else text

    def hopeless(self) -> str:
        """Return the first short text that takes too long; empty without one.

        Such a pattern is not tried on longer texts, which could take hours.
        """
        for repetitions in FIRST:
            length = repetitions * len(self.attack.pump)
            if length > FEW:
                break
            if self.bound(length) > HOPELESS and self.seconds(length, 3) > HOPELESS:
                return f"{self}: {self.seconds(length):.2f} s for {length} characters"
        return ""

    def grows(self) -> str:
        """Describe a growth of time faster than that of the text; empty otherwise."""
        short, long = SCREENED
        self.screened = self.bound(short)
        if self.screened < HOPELESS and self.bound(long) < NOTICED:
            return ""
        if self.screened < HOPELESS:
            first, second = self.seconds(short), self.seconds(long)
            if second < NOTICED or second < STEEP * first:
                return ""
        return self.measured(self._shortest(short), NOTICED)

    def _shortest(self, length: int) -> int:
        """Return a length of which four times as much is just measurable."""
        shortest = FEW // 16
        while shortest < length and self.seconds(4 * shortest) < TIMED:
            shortest *= 2
        return shortest

    def confirmed(self) -> str:
        """Describe the growth of time up to the longest text, or to a text that takes long enough."""
        length = SCREENED[1]
        while 2 * length <= LONGEST and self.seconds(length) < HOPELESS:
            length *= 2
        return self.measured(length // 4, SECONDS_A_CHARACTER * LONGEST)

    def measured(self, length: int, noticed: float) -> str:
        """Describe the growth over n, 2n and 4n characters, the best of five each; empty if linear."""
        if self.bound(4 * length) < noticed:
            return ""
        # Clearly linear patterns are not measured again.
        if self.seconds(4 * length) < CLEAR * self.seconds(length):
            return ""
        once, often = (self.seconds(factor * length, BEST_OF) for factor in (1, 4))
        if often < noticed or often < STEEP * once:
            return ""
        twice = self.seconds(2 * length, BEST_OF)
        if min(twice / once, often / twice) < STEEP_STEP:
            return ""
        return (
            f"{self}: {once:.4f}, {twice:.4f}, {often:.4f} s for {length} characters, 2 and 4 times as many"
        )

    def __str__(self) -> str:
        return f"{self.use.__name__} of {self.pattern.pattern[:60]!r} on {self.attack}"


def _steep(pattern: re.Pattern[Any]) -> str:
    """Return the first text on which a pattern is worse than linear; empty without one."""
    trials = [Trial(pattern, use, attack) for attack in attacks(pattern) for use in USES]
    for trial in trials:
        if text := trial.hopeless():
            return text
        # A few texts of some thousand characters are too quick for a verdict: longer texts decide.
        if trial.grows() and (text := trial.confirmed()):
            return text
    slow = sorted(trials, key=lambda trial: trial.screened)[-SLOWEST:]
    slowest = max(slow, key=lambda trial: trial.seconds(SCREENED[0], BEST_OF))
    return slowest.measured(LONGEST // 4, SECONDS_A_CHARACTER * LONGEST)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=_name)
def test_every_pattern_is_linear(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 100,000 characters, the time of a search grows at most linearly with the text."""
    every = _patterns(path, monkeypatch)
    slow = [steep for pattern in every[:: -(-len(every) // MOST) or 1] if (steep := _steep(pattern))]
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_rule_of_steering_is_linear(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All patterns of the longest file, which the test above only samples."""
    every = _patterns(ROOT / "data" / "steering" / "rules.py", monkeypatch)
    assert len(every) > MOST
    slow = [steep for pattern in every[part::PARTS] if (steep := _steep(pattern))]
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", cases(__file__, "patterns_that_are_not_linear_are_found"))
def test_nonlinear_patterns_are_detected(pattern: str) -> None:
    """Known slow patterns are distinguished from linear patterns."""
    assert _steep(re.compile(pattern))


@pytest.mark.slow
def test_all_patterns_are_checked() -> None:
    """Patterns are compiled only by `re.…`, so that the test above sees all of them."""
    other = re.compile(r"^\s*(?:from (?:re|regex) import|import regex|import re as)\b", re.MULTILINE)
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert [_name(path) for path in files if other.search(path.read_text(encoding="utf-8"))] == []
