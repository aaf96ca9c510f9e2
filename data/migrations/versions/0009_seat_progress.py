"""seats: how far the work at hand is."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    with op.batch_alter_table("seat") as batch:
        batch.add_column(sa.Column("progress", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Take this version back."""
    with op.batch_alter_table("seat", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_column("progress")
