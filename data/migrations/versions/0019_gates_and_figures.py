"""gates: what teams may have compared; and the tokens, money and time that systems report of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    op.add_column("question_set", sa.Column("gate", sa.JSON(), nullable=True))
    op.add_column("answer", sa.Column("tokens", sa.Integer(), nullable=True))
    op.add_column("answer", sa.Column("usd", sa.Float(), nullable=True))
    op.add_column("answer", sa.Column("milliseconds", sa.Float(), nullable=True))


def downgrade() -> None:
    """Take this version back."""
    op.drop_column("answer", "milliseconds")
    op.drop_column("answer", "usd")
    op.drop_column("answer", "tokens")
    op.drop_column("question_set", "gate")
