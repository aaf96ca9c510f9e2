"""Files of answers as rows, whichever of the known formats they have."""

from data.files.tables.rows import FileFormat, Row
from submissions.formats.reading import RowFile, open_rows

__all__ = ["FileFormat", "Row", "RowFile", "open_rows"]
