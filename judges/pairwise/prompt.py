"""Prompt files: Markdown with named sections and placeholders.

A prompt file has a title and free notes, then sections under `## ` headings:

- `system`: the rubric, sent first;
- `example` (any number): a worked example with `### question`, `### answer 1`, `### answer 2`,
  `### reply`, and `### reference` or `### passage` (any number) if the prompt has a ground truth;
- `pair`: the message for each battle, with the placeholders `{question}`, `{answer_1}`,
  `{answer_2}`, and `{reference}` or `{passages}` if the judge has that ground truth;
- `again`: an addition after an unreadable reply.

Everything except known placeholders is literal, so braces need no escape.

TOML files are prompts too: exact messages, compiled by `judges.pairwise.literal`.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import judges
from data.errors import SpecError
from judges.llm.templates import read_prompt
from judges.pairwise import literal

PLACEHOLDER = re.compile(r"\{(question|answer_1|answer_2|reference|passages)\}")
LOOKALIKE = re.compile(r"\{([a-z][a-z0-9_ ]{0,30})\}")
SECTIONS = ("system", "example", "pair", "again")
PARTS = ("question", "reference", "passage", "answer 1", "answer 2", "reply")
EXAMPLE_NEEDS = ("question", "answer 1", "answer 2", "reply")
SUFFIX = ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedExample:
    """A battle with its expected reply."""

    question: str
    answer_1: str
    answer_2: str
    reply: str
    reference: str = ""
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """Name and text of a prompt file."""

    name: str
    text: str

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            message = f"Prompt {self.name} is invalid: {'; '.join(problems)}."
            raise SpecError(message, advice="docs/judges.md describes prompt files.")

    @cached_property
    def hash(self) -> str:
        """Hexadecimal sha256 of the text, stored in every judgment."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def literal(self) -> literal.LiteralPrompt | None:
        """The exact messages; None if the prompt has sections."""
        is_literal = self.text.startswith(literal.START)
        return literal.LiteralPrompt.model_validate_json(self.text) if is_literal else None

    def section(self, name: str) -> str:
        """Return the text of a section, or an empty string."""
        return next((body for title, body in self._sections if title == name), "")

    def placeholders(self, name: str) -> frozenset[str]:
        """Return the placeholders that a section uses."""
        if self.literal is not None:
            return self.literal.used if self.section(name) else frozenset()
        return frozenset(PLACEHOLDER.findall(self.section(name)))

    @cached_property
    def examples(self) -> tuple[WorkedExample, ...]:
        """The worked examples, in the order of the file."""
        return tuple(_example(body) for title, body in self._sections if title == "example")

    @cached_property
    def _sections(self) -> tuple[tuple[str, str], ...]:
        if self.literal is not None:
            return (("pair", self.literal.ask), ("again", self.literal.again))
        return tuple(_split(self.text, "## "))

    def _problems(self) -> Iterator[str]:
        if self.text.startswith(literal.START):
            yield from literal.problems(self.text)
            return
        titles = [title for title, _ in self._sections]
        if "pair" not in titles:
            yield "it has no `## pair` section"
        for title in dict.fromkeys(titles):
            if title not in SECTIONS:
                yield f"unknown section `## {title}`{_closest(title, SECTIONS)}"
            elif titles.count(title) > 1 and title != "example":
                yield f"section `## {title}` occurs {titles.count(title)} times"
        for title, body in self._sections:
            if title == "pair":
                yield from _unknown_placeholders(body)
            elif title == "example":
                yield from _example_problems(body)
        needed = {"question", "answer_1", "answer_2"}
        absent = needed - self.placeholders("pair") if "pair" in titles else set()
        yield from (f"section `## pair` lacks {{{name}}}" for name in sorted(absent))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace placeholders once; placeholders in values are not expanded."""
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), template)


def load_prompt(name: str, *, folder: Path | None = None) -> Prompt:
    """Load a prompt by path, relative to the spec's folder, or by the name of a bundled prompt."""
    if folder is not None:
        for candidate in (folder / name, folder / f"{name}{SUFFIX}"):
            if candidate.is_file():
                exact = candidate.suffix == literal.SUFFIX
                text = literal.read_literal(candidate) if exact else read_prompt(candidate)
                return Prompt(candidate.stem, text)
    bundled = files(judges) / "prompts" / f"{Path(name).name.removesuffix(SUFFIX)}{SUFFIX}"
    if "/" not in name and bundled.is_file():
        return Prompt(name.removesuffix(SUFFIX), bundled.read_text(encoding="utf-8"))
    message = f"Unknown prompt {name!r}."
    entries = [entry.name for entry in (files(judges) / "prompts").iterdir()]
    names = ", ".join(sorted(entry.removesuffix(SUFFIX) for entry in entries if entry.endswith(SUFFIX)))
    raise SpecError(message, advice=f"Use a file next to the spec, or one of: {names}.")


def _split(text: str, mark: str) -> Iterator[tuple[str, str]]:
    title, lines = "", list[str]()
    for line in text.splitlines():
        if line.startswith(mark):
            if title:
                yield title, "\n".join(lines).strip()
            title, lines = line.removeprefix(mark).strip().lower(), []
        else:
            lines.append(line)
    if title:
        yield title, "\n".join(lines).strip()


def _example(body: str) -> WorkedExample:
    parts = list(_split(body, "### "))
    single = {title.replace(" ", "_"): text for title, text in parts if title != "passage"}
    return WorkedExample(**single, passages=tuple(text for title, text in parts if title == "passage"))


def _example_problems(body: str) -> Iterator[str]:
    titles = [title for title, _ in _split(body, "### ")]
    yield from (f"an example lacks `### {part}`" for part in EXAMPLE_NEEDS if part not in titles)
    for title in titles:
        if title not in PARTS:
            yield f"an example has the unknown part `### {title}`{_closest(title, PARTS)}"


def _unknown_placeholders(body: str) -> Iterator[str]:
    for name in dict.fromkeys(LOOKALIKE.findall(body)):
        if not PLACEHOLDER.fullmatch(f"{{{name}}}"):
            allowed = ("question", "answer_1", "answer_2", "reference", "passages")
            yield f"section `## pair` has the unknown placeholder {{{name}}}{_closest(name, allowed)}"


def _closest(word: str, known: tuple[str, ...]) -> str:
    suggestions = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {suggestions[0]!r}?)" if suggestions else f" (known: {', '.join(known)})"
