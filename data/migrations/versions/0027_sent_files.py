"""Files as they were sent, of submissions and as drafts; accounts that are closed."""

import sqlalchemy as sa
from alembic import op

from data.tables.schema import ddl_metadata

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    connection, schema = op.get_bind(), ddl_metadata()
    schema.create_all(connection)
    if "closed_at" not in {column["name"] for column in sa.inspect(connection).get_columns("account")}:
        kind = schema.tables["account"].c.closed_at.type
        with op.batch_alter_table("account") as account:
            account.add_column(sa.Column("closed_at", kind, nullable=True))
