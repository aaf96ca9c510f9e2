"""Cells of tables that people open in a spreadsheet."""

from __future__ import annotations

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def guarded(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula: such text gets an apostrophe in front.

    Source: OWASP, "CSV Injection".
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell
