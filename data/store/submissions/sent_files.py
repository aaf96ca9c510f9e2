"""Files as they were sent, byte for byte: those of submissions, and drafts that wait to be submitted."""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import ColumnElement, delete, insert, select, update

from data.records import SubmissionKind
from data.store.base import StorePart, no_set, to_record
from data.store.engine import new_id
from data.tables.columns import now
from data.tables.questions import question_sets, sent_file_parts, sent_files

BLOCK = 1024 * 1024
DRAFTS_STAY = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file without its content: its name at its sender's, bytes, sha256; of a draft the system typed."""

    id: int
    submission_id: int | None
    kind: SubmissionKind
    system: str
    name: str
    size: int
    sha256: str
    created_at: datetime


class SentFileStore(StorePart):
    """Stores files whole. A submission has at most one, and so has an account for a set as its draft."""

    def keep(self, number: int, set_name: str, kind: SubmissionKind, path: Path) -> None:
        """Store the file of a submission."""
        self._write(set_name, kind, path, submission_id=number)

    def keep_draft(self, account: str, set_name: str, kind: SubmissionKind, path: Path) -> SentFile:
        """Store a draft in place of the one before; drafts of all that are older than 30 days go."""
        with self._database.together() as connection:
            connection.execute(
                delete(sent_files).where(
                    sent_files.c.submission_id.is_(None), sent_files.c.created_at < now() - DRAFTS_STAY
                )
            )
            self.drop_draft(account, set_name)
            return self._write(set_name, kind, path, account=account)

    def draft(self, account: str, set_name: str) -> SentFile | None:
        """The draft of an account for a set; None where there is none."""
        return self._find(self._drafted(account, set_name))

    def name_draft(self, number: int, system: str) -> None:
        """Remember what its sender calls the system of a draft."""
        self._change(update(sent_files).where(sent_files.c.id == number).values(system=system[:100]))

    def drop_draft(self, account: str, set_name: str) -> None:
        """Remove the draft of an account for a set, if there is one."""
        self._change(delete(sent_files).where(self._drafted(account, set_name)))

    def of(self, number: int) -> SentFile | None:
        """The file of a submission; None where it came before files were stored."""
        return self._find(sent_files.c.submission_id == number)

    def names(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """What the files of submissions were called, by the submission's number."""
        query = select(sent_files.c.submission_id, sent_files.c.name)
        rows = self._all(query.where(sent_files.c.submission_id.in_(numbers)))
        return {row.submission_id: row.name for row in rows}

    def content(self, number: int) -> Iterator[bytes]:
        """The bytes of a file in blocks."""
        query = select(sent_file_parts.c.content).where(sent_file_parts.c.file_id == number)
        for content in self._values(query.order_by(sent_file_parts.c.position)):
            yield zlib.decompress(b64decode(content))

    def _find(self, which: ColumnElement[bool]) -> SentFile | None:
        row = self._first(select(sent_files).where(which))
        return None if row is None else to_record(SentFile, row, kind=SubmissionKind(row.kind))

    def _drafted(self, account: str, set_name: str) -> ColumnElement[bool]:
        of_set = select(question_sets.c.id).where(question_sets.c.name == set_name).scalar_subquery()
        return (sent_files.c.account == account) & (sent_files.c.set_id == of_set)

    def _write(
        self,
        set_name: str,
        kind: SubmissionKind,
        path: Path,
        *,
        submission_id: int | None = None,
        account: str | None = None,
    ) -> SentFile:
        whole = hashlib.sha256()
        with self._database.together() as connection, path.open("rb") as file:
            set_id = connection.execute(
                select(question_sets.c.id).where(question_sets.c.name == set_name)
            ).scalar()
            if set_id is None:
                raise no_set(set_name)
            values = {"set_id": set_id, "submission_id": submission_id, "account": account, "kind": kind}
            number = new_id(
                connection.execute(
                    insert(sent_files).values(
                        **values, system="", name=path.name, size=0, sha256="", created_at=now()
                    )
                )
            )
            for position, block in enumerate(iter(lambda: file.read(BLOCK), b"")):
                whole.update(block)
                content = b64encode(zlib.compress(block)).decode()
                connection.execute(
                    insert(sent_file_parts).values(file_id=number, position=position, content=content)
                )
            connection.execute(
                update(sent_files)
                .where(sent_files.c.id == number)
                .values(size=file.tell(), sha256=whole.hexdigest())
            )
            found = self._find(sent_files.c.id == number)
        assert found is not None  # noqa: S101 - it was written just now
        return found
