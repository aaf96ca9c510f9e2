"""Prompts as exact chat messages, for reproducing a study from its published files.

A TOML file defines the messages, the worked examples, the study's placeholders and its verdict words. It is
compiled to one self-contained JSON text, which is hashed and stored like every other prompt. Nothing is
trimmed, and no tags are added.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from data.errors import SpecError
from data.files.strict_json import wording
from data.models import Passage

SUFFIX = ".toml"
START = '{"literal":'
"""Prefix of a compiled prompt."""
QUOTES = ('"""', "'''")
ADVICE = "docs/judges.md shows how a study's own prompt is installed."
_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,40})\}")

PlaceholderName = Literal["question", "answer_1", "answer_2", "reference", "passages"]
Text = Annotated[str, Field(min_length=1)]


class VerdictWords(BaseModel):
    """Format of a verdict at the end of a reply: a case-insensitive word between `opening` and `closing`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    opening: Text = "<rating>"
    closing: str = "</rating>"
    first: tuple[Text, ...] = ("1",)
    second: tuple[Text, ...] = ("2",)
    tie: tuple[Text, ...] = ("0",)

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        words = [" ".join(word.lower().split()) for word in (*self.first, *self.second, *self.tie)]
        duplicates = sorted({word for word in words if words.count(word) > 1})
        if duplicates:
            raise ValueError(f"the verdict {duplicates[0]!r} has two meanings")
        if not self.first or not self.second:
            raise ValueError("`first` and `second` each need a word")
        return self


class LiteralPrompt(BaseModel):
    """Exact messages.

    Attributes:
        literal: Version of this format.
        messages: Role and text of the first messages, including worked examples.
        ask: Last user message, with placeholders.
        placeholders: Spelling of each placeholder in `ask`.
        passage: Template of a passage, with `{number}`, `{id}`, `{title}` and `{text}`.
        again: Addition to `ask` after an unreadable reply.
        verdict: Verdict words of a reply; None: as set by `reply` in the judge spec.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    literal: Literal[1] = 1
    messages: tuple[tuple[Literal["system", "user", "assistant"], str], ...] = ()
    ask: Text
    placeholders: Mapping[PlaceholderName, Text]
    passage: str = ""
    between: str = ""
    again: str = ""
    verdict: VerdictWords | None = None

    @property
    def used(self) -> frozenset[str]:
        """Placeholders that `ask` contains."""
        return frozenset(name for name, spelling in self.placeholders.items() if spelling in self.ask)

    def problems(self) -> Iterator[str]:
        """Yield problems of the prompt."""
        needed = {"question", "answer_1", "answer_2"}
        if not needed <= self.used:
            lacking = ", ".join(sorted(needed - self.used))
            yield f"its last message lacks {lacking}; [placeholders] sets their spelling"
        if "passages" in self.used and "{text}" not in self.passage:
            yield "[passages] has no `each` with {text}"
        spellings = list(self.placeholders.values())
        if len(set(spellings)) < len(spellings):
            yield "two placeholders have the same spelling"

    def fill(self, texts: Mapping[str, str], passages: Sequence[Passage] = ()) -> str:
        """Return the last message; placeholders in values are not expanded."""
        blocks = (
            {"number": str(number), "id": passage.id, "title": passage.title, "text": passage.text}
            for number, passage in enumerate(passages, 1)
        )
        values = {**texts, "passages": self.between.join(_fill(self.passage, block) for block in blocks)}
        names = {self.placeholders[name]: name for name in self.placeholders if name in self.used}
        longest_first = sorted(names, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        return pattern.sub(lambda match: values[names[match[0]]], self.ask)


class _Part(BaseModel):
    """A text or a file; `key` selects a value between triple quotes in that file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"] = "user"
    text: str | None = None
    file: str | None = None
    key: str | None = None

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.text is None) == (self.file is None):
            raise ValueError("a message has either `text` or `file`")
        return self


class _Examples(BaseModel):
    """Worked examples: rows of a JSON file, their field names and a template of the reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str | None = None
    rows: tuple[Mapping[str, str | int], ...] = ()
    fields: Mapping[str, str] = Field(default_factory=dict)
    reply: Text

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        unknown = sorted(set(self.fields) - set(get_args(PlaceholderName)))
        if unknown:
            raise ValueError(f"`fields` has the unknown placeholder {unknown[0]!r}")
        return self


class _Passages(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    each: str
    between: str = ""


class _File(BaseModel):
    """Contents of the TOML file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: Annotated[tuple[_Part, ...], Field(min_length=1)]
    placeholders: Mapping[PlaceholderName, Text] = Field(default_factory=dict)
    examples: _Examples | None = None
    passages: _Passages | None = None
    again: str = ""
    verdict: VerdictWords | None = None


def read_literal(path: Path) -> str:
    """Compile a literal prompt from its TOML file."""
    try:
        file = _File.model_validate(tomllib.loads(_content(path)))
        last = file.message[-1]
        if last.role != "user":
            raise _unusable(path, f"the last message must have the role user (got {last.role})")
        prompt = LiteralPrompt(
            messages=tuple((part.role, _text(part, path)) for part in file.message[:-1]),
            ask=_text(last, path),
            placeholders=file.placeholders
            or {"question": "{question}", "answer_1": "{answer_1}", "answer_2": "{answer_2}"}
            | {"reference": "{reference}", "passages": "{passages}"},
            passage="" if file.passages is None else file.passages.each,
            between="" if file.passages is None else file.passages.between,
            again=file.again,
            verdict=file.verdict,
        )
        if file.examples is None:
            return prompt.model_dump_json()
        examples = [message for example in _examples(file.examples, prompt, path) for message in example]
        return prompt.model_copy(update={"messages": (*prompt.messages, *examples)}).model_dump_json()
    except tomllib.TOMLDecodeError as error:
        raise _unusable(path, f"it is not valid TOML: {error}") from error
    except ValidationError as error:
        raise _unusable(path, "; ".join(_wordings(error))) from error


def problems(text: str) -> Iterator[str]:
    """Yield problems of a compiled prompt."""
    try:
        prompt = LiteralPrompt.model_validate_json(text)
    except ValueError as error:
        yield f"its stored form is damaged ({type(error).__name__})"
    else:
        yield from prompt.problems()


def _examples(
    examples: _Examples, prompt: LiteralPrompt, path: Path
) -> Iterator[tuple[tuple[Literal["user"], str], tuple[Literal["assistant"], str]]]:
    rows = list(examples.rows) if examples.file is None else _rows(path.parent / examples.file, path)
    for number, row in enumerate(rows, 1):
        needed = {name: examples.fields.get(name, name) for name in sorted(prompt.used - {"passages"})}
        lacking = [field for field in needed.values() if field not in row]
        lacking += [field for field in _FIELD.findall(examples.reply) if field not in row]
        if lacking:
            raise _unusable(path, f"example {number} lacks {', '.join(dict.fromkeys(lacking))}")
        texts = {name: str(row[field]) for name, field in needed.items()}
        reply = _fill(examples.reply, {name: str(value) for name, value in row.items()})
        yield ("user", prompt.fill(texts)), ("assistant", reply)


def _rows(source: Path, path: Path) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(_content(source))
    except ValueError as error:
        raise _unusable(path, f"{source.name} is not valid JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _unusable(path, f"{source.name} is not a list of examples")
    return rows


def _text(part: _Part, path: Path) -> str:
    if part.file is None:
        return part.text or ""
    content = _content(path.parent / part.file)
    return content if part.key is None else _quoted(content, part.key, part.file, path)


def _quoted(content: str, key: str, name: str, path: Path) -> str:
    """Return the exact text between the triple quotes after `key =` (as in a study's `.cfg` files)."""
    for quotes in QUOTES:
        for opening in (f"{key} = {quotes}", f"{key}={quotes}"):
            start = content.find(opening)
            end = content.find(quotes, start + len(opening))
            if start >= 0 and end >= 0:
                return content[start + len(opening) : end]
    raise _unusable(path, f"{name} has no value {key!r} between triple quotes")


def _fill(template: str, values: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), template)


def _content(path: Path) -> str:
    try:
        # newline="" preserves line ends, which are part of the prompt.
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        message = f"Prompt file {path} cannot be read: {error}."
        raise SpecError(message, advice="Check the path, and save it as UTF-8 text.") from error


def _wordings(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        yield f"{place}: {wording(problem)}" if place else wording(problem)


def _unusable(path: Path, problem: str) -> SpecError:
    return SpecError(f"Prompt file {path} is invalid: {problem}.", advice=ADVICE)
