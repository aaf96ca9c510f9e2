"""means of metrics by an LLM that scored a sample of a set's answers."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    numbers = ("mean", "error", "lower", "upper", "gain", "gain_lower", "gain_upper")
    op.create_table(
        "metric_estimate",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(100), nullable=False),
        sa.Column("judge", sa.String(100), nullable=False),
        sa.Column("cheap_metric", sa.String(100), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in numbers),
        sa.Column("differences", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_metric_estimate_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_estimate")),
        sa.UniqueConstraint(
            "submission_id", "metric", "judge", name=op.f("uq_metric_estimate_submission_id_metric_judge")
        ),
    )


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("metric_estimate")
