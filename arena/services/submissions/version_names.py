"""What somebody calls an earlier version of a system: the last one, its number, or that of its submission."""

from __future__ import annotations

from data.errors import InputError

LAST = "last"
MOST_DIGITS = 9
VERSIONS = "Write `last`, the number of a version as 3, or of a submission as id:17."


def number_in(against: str) -> int:
    """The number in `3` or `id:17`.

    Raises:
        InputError: There is none.
    """
    digits = against.removeprefix("id:")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS and int(digits) > 0):
        raise InputError(f"{against[:60]!r} names no version.", advice=VERSIONS)
    return int(digits)
