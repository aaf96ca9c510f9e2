"""Files of answers as rows, whichever of the known formats they have."""

from submissions.formats.layouts import Layout
from submissions.formats.reading import RowFile, open_rows
from submissions.formats.rows import FileFormat, Row

__all__ = ["FileFormat", "Layout", "Row", "RowFile", "open_rows"]
