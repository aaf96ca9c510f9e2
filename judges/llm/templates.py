"""Prompt files of LLM tasks with inputs between tags.

A prompt file is Markdown: a title and notes, then `## system` (constant, so that endpoints can cache it) and
`## task` (with the task's inputs as placeholders such as `{question}`). Everything else is literal. Each
input is enclosed in named tags with a mark that is derived from the inputs and occurs in none of them, so
that no input can close its own tag.

Our tags and chat tokens in untrusted text are sanitised, even if disguised. They are detected in the text's
skeleton: without hidden characters and escapes, with look-alike letters and brackets as ASCII. The text then
gets the same words in round brackets, `(/answer 1)` for `</answer 1>`. Ordinary HTML, code and `[1]`
citations stay
unchanged.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import judges
from data.errors import SpecError
from data.models import Passage
from data.steering.disguises import Flag, live_tokens, role_in
from data.steering.rules import skeleton_of

_PASSES = 4


@dataclass(frozen=True, slots=True)
class Sanitised:
    """A text without live tags and tokens, and flags for removed ones."""

    text: str
    flags: tuple[Flag, ...] = ()


_HIDDEN = re.compile(
    "[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff"
    "\uffa0\U000e0000-\U000e0fff]"
    "|(?<=[\x21-\x7e])[\u200c\u200d\u034f\ufe00-\ufe0f]+(?=[\x21-\x7e])"
)
_BRACKETS = str.maketrans("", "", "<>[]")


@lru_cache(maxsize=4096)
def sanitise(text: str) -> Sanitised:
    """Sanitise tags, chat tokens and role headers in a text, and remove hidden characters.

    The function is deterministic and idempotent.
    """
    bare = _HIDDEN.sub("", text)
    flags = [Flag.HIDDEN] if bare != text else []
    # A removal may join the parts of another token.
    for _ in range(_PASSES):
        skeleton = skeleton_of(bare)
        spans = sorted(live_tokens(skeleton.text))
        if not spans:
            break
        pieces, position = [], 0
        for start, end, token in spans:
            first, last = skeleton.span(start, end)
            if first < position:
                continue
            original, folded = bare[first:last], skeleton.text[start:end]
            flags += [token] if original.isascii() else [token, Flag.DISGUISE]
            visible = original if original.lower() == folded else folded
            harmless = f"({visible.translate(_BRACKETS)})"
            pieces += [bare[position:first], f"{role_in(visible)} -" if token is Flag.ROLE else harmless]
            position = last
        bare = "".join([*pieces, bare[position:]])
    return Sanitised(bare, tuple(dict.fromkeys(flags)))


PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
HEADING = re.compile(r"^## +(\w+)[ \t]*$", re.MULTILINE)
UNSAFE_ID = re.compile(r"[^\w.:/+-]")
SUFFIX = ".md"
MARK_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Tagged:
    """An untrusted text and its tag; replies can refer to its `id`."""

    tag: str
    text: str
    id: str = ""


Input = str | int | Tagged | Passage | Sequence[Tagged | Passage]
"""A text (tagged with its placeholder's name), a number (inserted without tags), or tagged texts."""


@dataclass(frozen=True)
class Template:
    """Name and text of a prompt file."""

    name: str
    text: str

    def __post_init__(self) -> None:
        unknown = set(self._sections) - {"system", "task"}
        if "task" not in self._sections or unknown:
            sections = ", ".join(f"## {name}" for name in self._sections) or "no section"
            message = f"Prompt {self.name} has {sections}."
            raise SpecError(message, advice="It needs `## task` and optionally a constant `## system`.")

    @cached_property
    def hash(self) -> str:
        """Hexadecimal sha256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def system(self) -> str:
        """Constant part of the prompt."""
        return self._sections.get("system", "")

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """Names of the inputs in `## task`."""
        return frozenset(PLACEHOLDER.findall(self._sections["task"]))

    @cached_property
    def _sections(self) -> Mapping[str, str]:
        pieces = HEADING.split(self.text)
        return {name.lower(): body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}

    def fill(self, inputs: Mapping[str, Input]) -> str:
        """Return the `## task` with every input between its tags."""
        if self.placeholders != set(inputs):
            message = (
                f"Prompt {self.name} has the placeholders {_join(self.placeholders)}, "
                f"but its task has the inputs {_join(inputs)}."
            )
            raise SpecError(
                message, advice="Use each input, and nothing else, as a placeholder in `## task`."
            )
        safe = {name: list(_safe(name, value)) for name, value in inputs.items()}
        mark = mark_of(self.hash, *(item.text for items in safe.values() for item in items))
        blocks = {
            name: str(value) if isinstance(value, int) else _block(safe[name], mark)
            for name, value in inputs.items()
        }
        return PLACEHOLDER.sub(lambda match: blocks[match[1]], self._sections["task"])


def load_template(name: str, *, folder: Path | None = None) -> Template:
    """Load a prompt by name from the organiser's folder, or else the bundled prompt."""
    places = [files(judges) / "prompts"] if folder is None else [folder, files(judges) / "prompts"]
    for place in places:
        path = place / f"{name}{SUFFIX}"
        if path.is_file():
            return Template(name, read_prompt(path))
    raise SpecError(f"Unknown prompt {name!r}.", advice=f"Add {name}{SUFFIX} to the prompts folder.")


def read_prompt(path: Traversable) -> str:
    """Read a prompt file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"Prompt file {path} cannot be read: {error}."
        raise SpecError(message, advice="Save it as UTF-8 text.") from error


def _safe(name: str, value: Input) -> Iterator[Tagged]:
    """Yield the sanitised texts of an input; numbers have none."""
    match value:
        case int():
            return
        case str():
            yield Tagged(name, sanitise(value).text)
        case Tagged():
            yield Tagged(value.tag, sanitise(value.text).text, UNSAFE_ID.sub("_", value.id))
        case Passage():
            yield from _safe(name, Tagged("passage", passage_text(value), value.id))
        case _:
            for item in value:
                yield from _safe(name, item)


def _block(items: Sequence[Tagged], mark: str) -> str:
    return "\n".join(_tagged_block(item, mark) for item in items) or "(none)"


def _tagged_block(item: Tagged, mark: str) -> str:
    block = delimit(item.tag, item.text, mark)
    opening = f"<{item.tag} {mark}"
    return block.replace(opening, f'{opening} id="{item.id}"', 1) if item.id else block


def _join(names: frozenset[str] | Mapping[str, Input]) -> str:
    return ", ".join(sorted(names)) or "(none)"


def passage_text(passage: Passage) -> str:
    """Return a passage, with its title on its own line."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def mark_of(*parts: str) -> str:
    """Derive the mark of a request's delimiters from its texts.

    The mark is deterministic, for replays and caches, and does not occur in the texts, so that no text can
    close its delimiter.
    """
    material = "\x1f".join(parts)
    for attempt in range(1000):
        digest = hashlib.sha256(f"{attempt}\x1e{material}".encode("utf-8", "surrogatepass")).hexdigest()
        mark = digest[:MARK_LENGTH]
        if mark not in material.lower():
            return mark
    return digest


def delimit(tag: str, text: str, mark: str) -> str:
    """Enclose a text in tags; an empty mark leaves the tags plain."""
    name = f"{tag} {mark}" if mark else tag
    return f"<{name}>\n{text}\n</{name}>"
