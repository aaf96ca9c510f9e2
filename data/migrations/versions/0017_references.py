"""references: what their writers do; and the thinking of systems, apart from their answers."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def _to(column: str, table: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(name), ondelete="CASCADE")


def upgrade() -> None:
    """Bring the schema to this version."""
    op.add_column("annotation_label", sa.Column("text", sa.Text(), nullable=True))
    op.create_table(
        "reference_draft",
        sa.Column("item_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _to("item_id", "annotation_item", "fk_reference_draft_item_id_annotation_item"),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_reference_draft")),
    )
    op.create_table(
        "reference_batch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("is_accepted", sa.Boolean(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        _to("task_id", "annotation_task", "fk_reference_batch_task_id_annotation_task"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reference_batch")),
        sa.UniqueConstraint("task_id", "number", name=op.f("uq_reference_batch_task_id_number")),
    )
    op.create_table(
        "reference_check",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("label_id", sa.Integer(), nullable=False),
        sa.Column("is_drawn", sa.Boolean(), nullable=False),
        sa.Column("is_reworked", sa.Boolean(), nullable=False),
        sa.Column("is_valid", sa.Boolean(), nullable=True),
        sa.Column("failures", sa.JSON(), nullable=True),
        sa.Column("remark", sa.Text(), nullable=False),
        sa.Column("auditor", sa.Text(), nullable=False),
        sa.Column("audited_at", sa.DateTime(timezone=True), nullable=True),
        _to("batch_id", "reference_batch", "fk_reference_check_batch_id_reference_batch"),
        _to("label_id", "annotation_label", "fk_reference_check_label_id_annotation_label"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reference_check")),
        sa.UniqueConstraint("batch_id", "label_id", name=op.f("uq_reference_check_batch_id_label_id")),
    )
    op.create_index("ix_reference_check_label_id", "reference_check", ["label_id"])
    op.add_column("reply", sa.Column("thinking", sa.Text(), nullable=True))
    op.add_column("answer", sa.Column("thinking", sa.Text(), nullable=True))


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("reference_check")
    op.drop_table("reference_batch")
    op.drop_table("reference_draft")
    op.drop_column("annotation_label", "text")
    op.drop_column("answer", "thinking")
    op.drop_column("reply", "thinking")
