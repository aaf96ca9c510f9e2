"""counts of verdicts by question, and readers' reports of judgments."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "question_digest",
        sa.Column("round_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("question_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("battles", sa.Integer(), nullable=False),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.Column("ties", sa.Integer(), nullable=False),
        sa.Column("flips", sa.Integer(), nullable=False),
        sa.Column("disputed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
            name=op.f("fk_question_digest_question_id_question"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_question_digest_round_id_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("round_id", "question_id", name=op.f("pk_question_digest")),
    )
    op.create_table(
        "judgment_report",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("battle_id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.String(length=100), nullable=False),
        sa.Column("presentation", sa.String(length=2), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("reporter", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["battle_id"], ["battle.id"], name=op.f("fk_judgment_report_battle_id_battle"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgment_report")),
    )
    with op.batch_alter_table("judgment_report", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_judgment_report_battle_id"), ["battle_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_judgment_report_reporter"), ["reporter"], unique=False)


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("judgment_report")
    op.drop_table("question_digest")
