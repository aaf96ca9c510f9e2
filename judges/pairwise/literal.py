"""Prompts as chat messages to the byte: what a study sent, installed from files that its authors publish.

A TOML file names the messages, the worked examples between them, how the study writes its placeholders, and
by which words a reply gives its verdict. Read, it is one JSON text without references to other files, which
is hashed and stored like every other prompt. Nothing is trimmed, and no tags are added.
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
"""With this a prompt's text begins where it is literal messages."""
QUOTES = ('"""', "'''")
ADVICE = "docs/judges.md shows how a study's own prompt is installed."
_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,40})\}")

PlaceholderName = Literal["question", "answer_1", "answer_2", "reference", "passages"]
Text = Annotated[str, Field(min_length=1)]


class VerdictWords(BaseModel):
    """Form of a reply's verdict: a word between `opening` and `closing`, at its end, in any case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    opening: Text = "<rating>"
    closing: str = "</rating>"
    first: tuple[Text, ...] = ("1",)
    second: tuple[Text, ...] = ("2",)
    tie: tuple[Text, ...] = ("0",)

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        words = [" ".join(word.lower().split()) for word in (*self.first, *self.second, *self.tie)]
        doubled = sorted({word for word in words if words.count(word) > 1})
        if doubled:
            raise ValueError(f"the verdict {doubled[0]!r} has two meanings")
        if not self.first or not self.second:
            raise ValueError("`first` and `second` need a word each")
        return self


class LiteralPrompt(BaseModel):
    """Messages to the byte.

    Attributes:
        literal: Version of this form.
        messages: Role and text of what comes first, worked examples included.
        ask: The last message, of the user, with placeholders.
        placeholders: How `ask` writes them, by name.
        passage: A passage, with `{number}`, `{id}`, `{title}` and `{text}`.
        again: What is added to `ask` when a reply could not be read.
        verdict: By which words a reply gives its verdict; None: as the judge spec's `reply` says.
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
        """The placeholders that `ask` has."""
        return frozenset(name for name, written in self.placeholders.items() if written in self.ask)

    def problems(self) -> Iterator[str]:
        """Yield its faults."""
        needed = {"question", "answer_1", "answer_2"}
        if not needed <= self.used:
            lacking = ", ".join(sorted(needed - self.used))
            yield f"its last message lacks {lacking}; [placeholders] says how the text writes them"
        if "passages" in self.used and "{text}" not in self.passage:
            yield "[passages] has no `each` with {text}"
        written = list(self.placeholders.values())
        if len(set(written)) < len(written):
            yield "two placeholders are written alike"

    def fill(self, texts: Mapping[str, str], passages: Sequence[Passage] = ()) -> str:
        """Return the last message; what a value holds is never expanded."""
        shown = self.between.join(
            _filled(self.passage, {"number": str(number), "id": one.id, "title": one.title, "text": one.text})
            for number, one in enumerate(passages, 1)
        )
        values = {**texts, "passages": shown}
        names = {self.placeholders[name]: name for name in self.placeholders if name in self.used}
        longest_first = sorted(names, key=len, reverse=True)
        written = re.compile("|".join(map(re.escape, longest_first)))
        return written.sub(lambda match: values[names[match[0]]], self.ask)


class _Part(BaseModel):
    """A text, or the file that holds it; `key` names a value between triple quotes in that file."""

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
    """Worked examples: rows of a JSON file, which of their fields are what, and the reply that each gets."""

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
    """Return a literal prompt's text from the TOML file that describes it."""
    try:
        file = _File.model_validate(tomllib.loads(_content(path)))
        last = file.message[-1]
        if last.role != "user":
            raise _unusable(path, f"the last message is of the {last.role}, and must be the user's")
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
        shown = [message for example in _examples(file.examples, prompt, path) for message in example]
        return prompt.model_copy(update={"messages": (*prompt.messages, *shown)}).model_dump_json()
    except tomllib.TOMLDecodeError as error:
        raise _unusable(path, f"it is not valid TOML: {error}") from error
    except ValidationError as error:
        raise _unusable(path, "; ".join(_worded(error))) from error


def problems(text: str) -> Iterator[str]:
    """Yield the faults of a literal prompt's own text."""
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
        reply = _filled(examples.reply, {name: str(value) for name, value in row.items()})
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
    """Return the text between the triple quotes after `key =`, to the byte (the study's `.cfg` files)."""
    for quotes in QUOTES:
        for opening in (f"{key} = {quotes}", f"{key}={quotes}"):
            start = content.find(opening)
            end = content.find(quotes, start + len(opening))
            if start >= 0 and end >= 0:
                return content[start + len(opening) : end]
    raise _unusable(path, f"{name} has no value {key!r} between triple quotes")


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), template)


def _content(path: Path) -> str:
    try:
        # Line ends are part of what was sent.
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        message = f"Prompt file {path} cannot be read: {error}."
        raise SpecError(message, advice="Check the path, and save it as UTF-8 text.") from error


def _worded(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        yield f"{place}: {wording(problem)}" if place else wording(problem)


def _unusable(path: Path, problem: str) -> SpecError:
    return SpecError(f"Prompt file {path} cannot be used: {problem}.", advice=ADVICE)
