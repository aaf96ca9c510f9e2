"""references: what their writers do; and the thinking of systems, apart from their answers."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    op.add_column("reply", sa.Column("thinking", sa.Text(), nullable=True))
    op.add_column("answer", sa.Column("thinking", sa.Text(), nullable=True))


def downgrade() -> None:
    """Take this version back."""
    op.drop_column("answer", "thinking")
    op.drop_column("reply", "thinking")
