"""Selection of a submission's rows from a table with the answers of several systems."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from data.errors import FileFormatError
from data.files.tables.columns import Column, renamed
from data.files.tables.rows import Row
from data.files.tables.values import given, id_text
from submissions.answer_tables import read_answer_table
from submissions.formats.reading import RowFile
from submissions.formats.registry import LONGEST_NAME, AnswerFormat, format_of, system_names
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, shown
from submissions.question_index import QuestionIndex
from submissions.shapes import UnnamedSystemsError

LISTED = 20


class TableSystems:
    """Chooses the rows of `IntakeLimits.system`; all rows where a table is not of several systems."""

    def __init__(self, path: Path, limits: IntakeLimits, index: QuestionIndex) -> None:
        self._path = path
        self._limits = limits
        self._index = index

    def own(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows that are the system's."""
        several: Mapping[tuple[str, str], str] | None = None
        seen: set[str] = set()
        for row in rows:
            whose, question = self._named(row.value)
            if not any(whose):
                if question in seen:
                    self._require_one()
                    seen.clear()
                seen.add(question)
                yield row
                continue
            if several is None:
                several = self._several()
                if several and self._limits.system not in several.values():
                    raise self._unnamed([*several.values()])
            if not several or several.get(whose) == self._limits.system:
                yield row

    def _require_one(self) -> None:
        """Refuse a table whose systems stand in a column that is not called so."""
        try:
            read_answer_table(self._path)
        except UnnamedSystemsError as error:
            error.advice = "Call the column system, and name one of its systems: --system NAME."
            raise
        except FileFormatError:
            return

    def _several(self) -> Mapping[tuple[str, str], str]:
        """Return the names of its systems; nothing where no question has rows of several."""
        found: dict[tuple[str, str], None] = {}
        first: dict[str, tuple[str, str]] = {}
        several = False
        # The second reading says what is wrong with rows.
        with suppress(FileFormatError), RowFile(self._path, self._limits, Findings(10**9)) as rows:
            for row in rows:
                whose, question = self._named(row.value)
                if any(whose):
                    found[whose] = None
                    several = several or first.setdefault(question, whose) != whose
        names = system_names(found)
        return {whose: names[whose] for whose in found} if several else {}

    def _unnamed(self, systems: Sequence[str]) -> FileFormatError:
        # In full, since one is to be given.
        names = listed((shown(name, LONGEST_NAME) for name in systems), LISTED)
        message = f"{self._path.name} has the answers of {len(systems):,} systems: {names}."
        if self._limits.system:
            message = f"{message[:-1]}; none is {shown(self._limits.system, LONGEST_NAME)}."
        return FileFormatError(message, advice="Name one: --system NAME.", code=Code.SEVERAL_SYSTEMS)

    def _named(self, value: object) -> tuple[tuple[str, str], str]:
        """Return the system of a row, empty where it does not say, and the row's question."""
        known = format_of(value)
        if known is not None or not isinstance(value, Mapping):
            return self._by_its_tool(known, value)
        fields = renamed(value)
        asked = fields.get(Column.QUESTION_ID)
        question = asked if given(asked) else fields.get(Column.QUESTION)
        return (id_text(fields.get(Column.SYSTEM)) or "", ""), str(question)

    def _by_its_tool(self, known: AnswerFormat | None, value: object) -> tuple[tuple[str, str], str]:
        if known is not None and known.several and isinstance(value, Mapping):
            # What cannot be read is the row's problem, once it is checked.
            with suppress(FileFormatError):
                named = known.read(value, self._index)
                if named is not None:
                    return (named.system, named.variant), str(next(iter(named.ids), named.text))
        return ("", ""), ""
