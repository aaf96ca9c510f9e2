"""Which rows of a table are a submission's, where it has the answers of several systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from data.errors import FileFormatError
from data.files.tabular.columns import Column, renamed
from data.files.tabular.rows import Row
from data.files.tabular.values import given, id_text
from submissions.formats import open_rows
from submissions.formats.registry import format_of
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, shown

LISTED = 20


class TableSystems:
    """Chooses the rows of `IntakeLimits.system`; all rows where a table is not of several systems."""

    def __init__(self, path: Path, limits: IntakeLimits) -> None:
        self._path = path
        self._limits = limits

    def own(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows that are the system's.

        Raises:
            FileFormatError: The table has rows of several systems for one question, and none is named.
        """
        several: Counter[str] | None = None
        for row in rows:
            system, _ = _named(row.value)
            if not system:
                yield row
                continue
            if several is None:
                several = self._several()
                if several and self._limits.system not in several:
                    raise self._unnamed(several)
            if not several or system == self._limits.system:
                yield row

    def _several(self) -> Counter[str]:
        """How many rows each system has; none where no question has rows of several."""
        counts, first, several = Counter[str](), dict[str, str](), False
        # The second reading says what is wrong with rows.
        with suppress(FileFormatError), open_rows(self._path, self._limits, Findings(10**9)) as rows:
            for row in rows:
                system, question = _named(row.value)
                if system:
                    counts[system] += 1
                    several = several or first.setdefault(question, system) != system
        return counts if several else Counter()

    def _unnamed(self, systems: Mapping[str, int]) -> FileFormatError:
        names = listed(map(shown, systems), LISTED)
        message = f"{self._path.name} has the answers of {len(systems):,} systems: {names}."
        if self._limits.system:
            message = f"{message[:-1]}; none is {shown(self._limits.system)}."
        return FileFormatError(message, advice="Name one: --system NAME.", code=Code.SEVERAL_SYSTEMS)


def _named(value: object) -> tuple[str, str]:
    """Whose row it is, empty where it does not say, and of which question."""
    if not isinstance(value, Mapping) or format_of(value) is not None:
        return "", ""
    fields = renamed(value)
    asked = fields.get(Column.QUESTION_ID)
    return id_text(fields.get(Column.SYSTEM)) or "", str(
        asked if given(asked) else fields.get(Column.QUESTION)
    )
