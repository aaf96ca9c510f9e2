"""Tables and columns that a database of before lacks; one that 0024 has just made lacks none."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from data.tables.schema import ddl_metadata

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    connection, schema = op.get_bind(), ddl_metadata()
    schema.create_all(connection)
    inspector = sa.inspect(connection)
    for table in schema.sorted_tables:
        known = {column["name"] for column in inspector.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                op.add_column(table.name, _added(column))


def _added(column: sa.Column[Any]) -> sa.Column[Any]:
    """The column with its default as the database's own, which rows that are there already get."""
    made, default = column.default, None
    if isinstance(made, sa.ColumnDefault) and made.is_scalar:
        literal = sa.literal(made.arg).compile(compile_kwargs={"literal_binds": True})
        default = sa.text(str(literal))
    return sa.Column(column.name, column.type, nullable=column.nullable, server_default=default)
