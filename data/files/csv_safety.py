"""Cells of tables that people open in a spreadsheet."""

from __future__ import annotations

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula: such text gets an apostrophe in front.

    So does text that has one already, so that `unescape_formula` gives back what was written.

    Source: OWASP, "CSV Injection".
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def unescape_formula(cell: str) -> str:
    """The text of a cell before it was escaped."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'").startswith(FORMULA_STARTS) else cell
