"""when a submission was submitted, and what lost calls may have cost a round."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# What was withdrawn while it was only checked has a note of the check and none of a confirmation.
SUBMITTED = """
    UPDATE submission SET submitted_at = created_at
    WHERE state = 'accepted' OR (state = 'withdrawn' AND (
        NOT EXISTS (SELECT 1 FROM audit AS note WHERE note.action = 'submission-checked'
            AND note.subject = 'submission ' || submission.id)
        OR EXISTS (SELECT 1 FROM audit AS note WHERE note.action = 'submission-confirmed'
            AND note.subject = 'submission ' || submission.id)))"""


def upgrade() -> None:
    """Bring the schema to this version."""
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.add_column(sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(SUBMITTED)
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.add_column(sa.Column("lost_usd", sa.Float(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Take this version back."""
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.drop_column("lost_usd")
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.drop_column("submitted_at")
