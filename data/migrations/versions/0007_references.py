"""references: who wrote a set's references, and what its readers must know."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NEW = ("reference_by", "note")


def upgrade() -> None:
    """Bring the schema to this version; of sets that are there, nobody knows who wrote the references."""
    for name in NEW:
        op.add_column("question_set", sa.Column(name, sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Take this version back."""
    for name in NEW:
        op.drop_column("question_set", name)
