"""Limits on files of submissions."""

from dataclasses import dataclass

from data.errors import RecordError
from data.files.text_files import MEBIBYTE, ReadLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeLimits:
    """Limits on an answer file; larger files are refused.

    Attributes:
        row_bytes: Bytes of one line, JSON item or CSV cell.
        gzip_ratio: Decompressed bytes per compressed byte, checked after the first 16 MiB.
        answers: Lines, items or rows of a file.
        ranked: Passages per question in a run.
        empty_share: Share of empty answers from which they are errors. Systems sometimes return nothing;
            leaving such questions out would favour them.
        empty_from: In files with fewer answers every empty answer is an error.
        errors: Errors after which the check stops.
        system: System to read in a table of several; empty for a single system.
        keep_na: Whether `NA`, `None` and the like are texts, not missing values, and errors are answers.
    """

    file_bytes: int = 200 * MEBIBYTE
    row_bytes: int = 4 * MEBIBYTE
    gzip_ratio: int = 300
    answers: int = 250_000
    answer_chars: int = 50_000
    contexts: int = 200
    context_chars: int = 100_000
    ranked: int = 1_000
    empty_share: float = 0.1
    empty_from: int = 60
    errors: int = 100_000
    system: str = ""
    keep_na: bool = False

    def __post_init__(self) -> None:
        for name in set(self.__slots__) - {"system", "keep_na"}:
            if getattr(self, name) < (0 if name == "empty_share" else 1):
                message = f"The submission limit {name} is {getattr(self, name)}."
                raise RecordError(message, advice="Use at least 1, or at least 0 for a share.")

    @property
    def reading(self) -> ReadLimits:
        """Limits for reading bytes."""
        return ReadLimits(
            file_bytes=self.file_bytes,
            line_bytes=self.row_bytes,
            gzip_ratio=self.gzip_ratio,
            rows=self.answers,
            items=self.contexts,
        )
