"""Limits of what is read of a submission."""

from dataclasses import dataclass

from data.errors import RecordError
from data.files.text_files import MEBIBYTE, ReadLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeLimits:
    """Limits on a file of answers; larger files are refused.

    Attributes:
        row_bytes: Bytes of one line, JSON item or CSV cell.
        gzip_ratio: Decompressed bytes for one compressed byte, looked at past the first 16 MiB.
        answers: Lines, items or rows of a file.
        ranked: Passages of one question in a run.
        empty_share: Share of empty answers from which on they are errors. Real systems return nothing
            now and then; leaving such questions out would flatter them.
        empty_from: In a file of fewer answers each empty one is an error.
        errors: Errors after which the rest of the file is not looked at.
        system: Whose answers are read where a table has those of several; empty for the only one's.
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
                message = f"The intake limit {name} is {getattr(self, name)}."
                raise RecordError(message, advice="Use a number from 1; a share from 0.")

    @property
    def reading(self) -> ReadLimits:
        """The limits of the layer that reads bytes."""
        return ReadLimits(
            file_bytes=self.file_bytes,
            line_bytes=self.row_bytes,
            gzip_ratio=self.gzip_ratio,
            rows=self.answers,
            items=self.contexts,
        )
