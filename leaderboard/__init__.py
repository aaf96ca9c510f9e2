"""Pure computation of boards: ratings, intervals, rates, agreement, standings, charts and battle files.

The public modules are those of `__all__`; docs/python.md shows them in use.
"""

__all__ = ["agreement", "battles", "formats", "rates", "ratings"]
