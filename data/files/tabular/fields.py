"""The fields of one row of a table of records, read one by one; what is wrong with each is noted."""

from __future__ import annotations

from collections.abc import Mapping

from data.errors import FileFormatError
from data.files.tabular.values import BAD_CONTEXT, given, id_text, kind, passages_of, seen
from data.models import Importance, Nugget, Passage, ProblemList

NUGGETS = "nuggets"
GRADES = ", ".join(f'"{grade.value}"' for grade in Importance)
READ_AS_ID = "Texts and whole numbers are read."


class Fields:
    """Reads the fields of a row; `row` has them by name, `line` says where it stands."""

    def __init__(self, line: int, row: Mapping[str, object], problems: ProblemList) -> None:
        self.line, self.row = line, row
        self._problems, self._before = problems, problems.errors

    @property
    def wrong(self) -> bool:
        """Whether an error was noted since the row was begun."""
        return self._problems.errors > self._before

    def note(self, code: str, message: str, advice: str = "") -> None:
        """Note an error."""
        self._problems.add(self.line, code, message, advice=advice)

    def text(self, name: str, *, blank: bool = False) -> str:
        """A text that must be there, and hold something unless it may be `blank`."""
        value, advice = self.row.get(name), f"Give every line its {name}."
        if isinstance(value, str) and (blank or value.strip()):
            return value
        if value is None:
            self.note("missing-field", f"There is no {name}.", advice)
        elif isinstance(value, str):
            self.note("empty-field", f"The {name} is empty.", advice)
        else:
            self.note("wrong-type", f"The {name} is {seen(value)}, not a string.")
        return ""

    def optional(self, name: str) -> str | None:
        """A text; None where there is none, or it is empty."""
        value = self.row.get(name)
        if value is None or isinstance(value, str):
            return value or None
        self.note("wrong-type", f"The {name} is {seen(value)}, not a string.")
        return None

    def id(self, *names: str) -> str:
        """The first id that is given under one of some names; a whole number is its digits."""
        value = next((self.row[name] for name in names if given(self.row.get(name))), None)
        name = id_text(value)
        if value is None or (name is not None and not name.strip()):
            self.note("missing-field", f"There is no {names[0]}.", f"Give every line its {names[0]}.")
        elif name is None:
            self.note("wrong-type", f"The {names[0]} is {seen(value)}. {READ_AS_ID}")
        return name or ""

    def list(self, name: str) -> list[object]:
        """A list; empty where there is none."""
        value = self.row.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.note("wrong-type", f"{name} is {kind(value)}, not a list.")
        return []

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, none of them blank."""
        values = self.list(name)
        wrong = next((value for value in values if not isinstance(value, str) or not value.strip()), None)
        if wrong is not None or None in values:
            self.note("wrong-type", f"{name} holds {kind(wrong)} where a text is expected.")
            return ()
        return tuple(map(str, values))

    def ids(self, name: str) -> tuple[str, ...]:
        """A list of ids."""
        values = self.list(name)
        found = tuple(id_text(value) or "" for value in values)
        if "" in found:
            message = f"{name} holds {seen(values[found.index('')])}. {READ_AS_ID}"
            self.note("wrong-type", message, "Give the ids of documents.")
            return ()
        return found

    def passages(self, name: str, prefix: str) -> tuple[Passage, ...]:
        """Passages; those without an id are counted behind a prefix."""
        try:
            return passages_of(self.row.get(name), prefix)
        except FileFormatError as error:
            code = "bad-passage" if error.code == BAD_CONTEXT else error.code
            self.note(code, f"{name}: {error.message}", error.advice)
            return ()

    def nuggets(self) -> tuple[Nugget, ...]:
        """The nuggets: texts, or objects of `text` and `importance`, whose further fields are left alone."""
        found = [self._nugget(place, value) for place, value in enumerate(self.list(NUGGETS), start=1)]
        nuggets = tuple(nugget for nugget in found if nugget is not None)
        if len({nugget.text for nugget in nuggets}) != len(nuggets):
            self.note("duplicate-nugget", "Two nuggets of one question have one text.")
        return nuggets

    def _nugget(self, place: int, value: object) -> Nugget | None:
        entry = value if isinstance(value, Mapping) else {"text": value}
        text, importance = entry.get("text"), entry.get("importance")
        if not isinstance(text, str) or not text.strip():
            self.note("bad-nugget", f"Nugget {place} has no text.")
            return None
        if importance is not None and importance not in list(Importance):
            message = f"The importance of nugget {place} is {importance!r}."
            self.note("wrong-value", message, f"Use {GRADES}, or leave it out.")
            return None
        return Nugget(text, None if importance is None else Importance(str(importance)))
