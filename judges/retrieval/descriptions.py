"""TOML files that describe where passages are searched: found by name, filled from the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from data.errors import NotFoundError, SpecError

SUFFIX = ".toml"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*+)\}")
ADVICE = "docs/retrievers.md has an example of each key."


@dataclass(frozen=True, slots=True)
class Shelf:
    """Descriptions of one kind.

    Attributes:
        kind: What messages call one.
        bundled: The folder of the bundled ones, beside this module.
    """

    kind: str
    bundled: str

    def names(self, folders: Sequence[Path] = ()) -> tuple[str, ...]:
        """The names that `text` knows, an organiser's own first."""
        custom = [
            path.stem for folder in folders if folder.is_dir() for path in sorted(folder.glob(f"*{SUFFIX}"))
        ]
        return tuple(dict.fromkeys([*custom, *sorted(self._bundled())]))

    def _bundled(self) -> Iterator[str]:
        for entry in (files(__package__) / self.bundled).iterdir():
            if entry.name.endswith(SUFFIX):
                yield entry.name.removesuffix(SUFFIX)

    def text(self, name: str, folders: Sequence[Path]) -> str:
        """The text of a description.

        Args:
            name: A path (it ends in `.toml`), or the name of a file in `folders` or of a bundled one.
            folders: Where to look before the bundled ones.

        Raises:
            NotFoundError: None bears the name.
            SpecError: The file cannot be read.
        """
        paths = [Path(name)] if name.endswith(SUFFIX) else [folder / f"{name}{SUFFIX}" for folder in folders]
        path = next((path for path in paths if path.is_file()), None)
        if path is None and name in set(self._bundled()):
            bundled = files(__package__) / self.bundled / f"{name}{SUFFIX}"
            return bundled.read_text(encoding="utf-8")
        if path is None:
            known = ", ".join(self.names(folders))
            message = f"There is no {self.kind} {name!r}."
            raise NotFoundError(message, advice=f"Give the path of a .toml file or one of: {known}.")
        try:
            return path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            message = f"The {self.kind} {path} cannot be read: {error}."
            raise SpecError(message, advice="Check the path, and save it as UTF-8 text.") from error

    def filled(self, template: object, variables: Mapping[str, str], name: str) -> object:
        """A template with the variables of the environment that it names as `${NAME}`.

        Raises:
            SpecError: One is not set.
        """
        if isinstance(template, Mapping):
            return {key: self.filled(value, variables, name) for key, value in template.items()}
        if isinstance(template, list | tuple):
            return [self.filled(value, variables, name) for value in template]
        if not isinstance(template, str):
            return template
        missing = [found for found in _VARIABLE.findall(template) if found not in variables]
        if missing:
            message = f"The {self.kind} {name} needs the variable {missing[0]}."
            raise SpecError(message, advice=f"Set {missing[0]} in the environment.")
        return _VARIABLE.sub(lambda match: variables[match[1]], template)


def names_variable(template: object) -> bool:
    """Whether a text takes something from the environment."""
    return isinstance(template, str) and _VARIABLE.search(template) is not None


def stem_of(name: str) -> str:
    """What a description is called: a file's name, without folders and ending."""
    return Path(name).stem if name.endswith(SUFFIX) else name
