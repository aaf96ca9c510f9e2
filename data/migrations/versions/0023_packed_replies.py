"""replies, and what judges wrote, in columns of bytes that may be packed; SQLite keeps both in one column."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from data.tables.columns import PACKED, unpack

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

COLUMNS = {"reply": ("key", ("text", "logprobs", "thinking")), "judgment": ("id", ("rationale",))}
"""Tables with their keys and the columns that are packed."""
ROWS_AT_ONCE = 1_000


def upgrade() -> None:
    """Bring the schema to this version; what is stored stays as it is, and is read as it is."""
    _change("bytea", "convert_to")


def downgrade() -> None:
    """Take this version back."""
    connection = op.get_bind()
    for table, (key, columns) in COLUMNS.items():
        for column in columns:
            for number, stored in _packed(connection, table, key, column):
                plain = unpack(stored)
                value = plain if connection.dialect.name == "sqlite" else plain.encode()
                changed = sa.text(f"UPDATE {table} SET {column} = :value WHERE {key} = :key")  # noqa: S608 - our names
                connection.execute(changed, {"value": value, "key": number})
    _change("text", "convert_from")


def _change(kind: str, function: str) -> None:
    """Change the type of the columns, of each table in one pass; on PostgreSQL alone."""
    if op.get_bind().dialect.name == "sqlite":
        return
    for table, (_, columns) in COLUMNS.items():
        changes = (f"ALTER {column} TYPE {kind} USING {function}({column}, 'UTF8')" for column in columns)
        op.execute(f"ALTER TABLE {table} {', '.join(changes)}")


def _packed(connection: sa.Connection, table: str, key: str, column: str) -> Iterator[tuple[object, bytes]]:
    """Yield the keys and values of a column that are packed."""
    named = sa.table(table, sa.column(key), sa.column(column))
    after: object = None
    while True:
        query = sa.select(named.c[key], named.c[column]).order_by(named.c[key]).limit(ROWS_AT_ONCE)
        rows = connection.execute(query if after is None else query.where(named.c[key] > after)).all()
        if not rows:
            return
        after = rows[-1][0]
        for number, stored in rows:
            if isinstance(stored, bytes) and stored.startswith(PACKED):
                yield number, stored
