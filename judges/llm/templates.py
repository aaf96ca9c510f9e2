"""Prompt files of LLM tasks, and inputs between tags.

A prompt file is Markdown: a title and notes for people, then two sections, `## system` (what the task
is; the same in every request, so that endpoints can keep it ready) and `## task` (what is asked now),
with the task's inputs as placeholders, `{question}`. Everything else is literal. Each input stands
between tags that say what it is. The tags carry a mark that is derived from the inputs and occurs in
none of them, so no input can close its own tag.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import judges
from data.errors import SpecError
from data.models import Passage
from judges.protection.sanitise import sanitise

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
HEADING = re.compile(r"^## +(\w+)[ \t]*$", re.MULTILINE)
UNSAFE_ID = re.compile(r"[^\w.:/+-]")
SUFFIX = ".md"
MARK_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Tagged:
    """An untrusted text and what it is; `id` lets a reply refer to it."""

    tag: str
    text: str
    id: str = ""


Input = str | int | Tagged | Passage | Sequence[Tagged | Passage]
"""A text (tagged with its placeholder's name), a number (written as it is), or one or more tagged texts."""


@dataclass(frozen=True)
class Template:
    """A prompt file: its name and its whole text.

    Raises:
        SpecError: It has no `## task`, or a section of another name.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        unknown = set(self._sections) - {"system", "task"}
        if "task" not in self._sections or unknown:
            sections = ", ".join(f"## {name}" for name in self._sections) or "no section"
            message = f"Prompt {self.name} has {sections}."
            raise SpecError(message, advice="Give it `## task` and, for what never changes, `## system`.")

    @cached_property
    def hash(self) -> str:
        """The sha256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def system(self) -> str:
        """The part that never changes."""
        return self._sections.get("system", "")

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """The inputs that `## task` names."""
        return frozenset(PLACEHOLDER.findall(self._sections["task"]))

    @cached_property
    def _sections(self) -> Mapping[str, str]:
        pieces = HEADING.split(self.text)
        return {name.lower(): body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}

    def fill(self, inputs: Mapping[str, Input]) -> str:
        """The `## task` with every input between its tags.

        Raises:
            SpecError: The placeholders and the inputs are not the same names.
        """
        if self.placeholders != set(inputs):
            message = (
                f"Prompt {self.name} has the placeholders {_listed(self.placeholders)}, "
                f"but its task gives {_listed(inputs)}."
            )
            raise SpecError(message, advice="Name each input once or more in `## task`, and nothing else.")
        safe = {name: list(_safe(name, value)) for name, value in inputs.items()}
        mark = mark_of(self.hash, *(item.text for items in safe.values() for item in items))
        blocks = {
            name: str(value) if isinstance(value, int) else _block(safe[name], mark)
            for name, value in inputs.items()
        }
        return PLACEHOLDER.sub(lambda match: blocks[match[1]], self._sections["task"])


def load_template(name: str, *, folder: Path | None = None) -> Template:
    """Read a bundled prompt by name, or one from a folder of the organiser's where it has it.

    Raises:
        SpecError: There is no such prompt, it is no UTF-8 text, or it breaks the rules of prompts.
    """
    places = [files(judges) / "prompts"] if folder is None else [folder, files(judges) / "prompts"]
    for place in places:
        path = place / f"{name}{SUFFIX}"
        if path.is_file():
            try:
                return Template(name, path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                message = f"Prompt file {path} cannot be read: {error}."
                raise SpecError(message, advice="Save it as UTF-8 text.") from error
    raise SpecError(f"There is no prompt {name!r}.", advice=f"Add {name}{SUFFIX} to the prompts folder.")


def _safe(name: str, value: Input) -> Iterator[Tagged]:
    """The texts of an input, neutralised; numbers have none."""
    match value:
        case int():
            return
        case str():
            yield Tagged(name, sanitise(value).text)
        case Tagged():
            yield Tagged(value.tag, sanitise(value.text).text, UNSAFE_ID.sub("_", value.id))
        case Passage():
            text = f"{value.title}\n{value.text}" if value.title else value.text
            yield from _safe(name, Tagged("passage", text, value.id))
        case _:
            for item in value:
                yield from _safe(name, item)


def _block(items: Sequence[Tagged], mark: str) -> str:
    return "\n".join(_delimited(item, mark) for item in items) or "(none)"


def _delimited(item: Tagged, mark: str) -> str:
    block = delimit(item.tag, item.text, mark)
    opening = f"<{item.tag} {mark}"
    return block.replace(opening, f'{opening} id="{item.id}"', 1) if item.id else block


def _listed(names: frozenset[str] | Mapping[str, Input]) -> str:
    return ", ".join(sorted(names)) or "(none)"


def mark_of(*parts: str) -> str:
    """Derive the mark of a request's delimiters from what the request shows.

    It is the same whenever the same request is made, so replays and caches find it again; it never
    occurs in the parts themselves, so no text can close its own delimiter.
    """
    material = "\x1f".join(parts)
    for attempt in range(1000):
        digest = hashlib.sha256(f"{attempt}\x1e{material}".encode("utf-8", "surrogatepass")).hexdigest()
        mark = digest[:MARK_LENGTH]
        if mark not in material:
            return mark
    return digest


def delimit(tag: str, text: str, mark: str) -> str:
    """Put a text between tags of its own; without a mark the tags are plain."""
    name = f"{tag} {mark}" if mark else tag
    return f"<{name}>\n{text}\n</{name}>"
