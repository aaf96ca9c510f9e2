"""annotation: tasks, pairs of answers, and the labels of people."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "annotation_task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["set_id"],
            ["question_set.id"],
            name=op.f("fk_annotation_task_set_id_question_set"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation_task")),
        sa.UniqueConstraint("name", name=op.f("uq_annotation_task_name")),
    )
    op.create_index(op.f("ix_annotation_task_set_id"), "annotation_task", ["set_id"], unique=False)
    op.create_table(
        "annotation_pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [f"{table}.id"],
                name=op.f(f"fk_annotation_pair_{column}_{table}"),
                ondelete="CASCADE",
            )
            for column, table in (
                ("task_id", "annotation_task"),
                ("question_id", "question"),
                ("a_id", "submission"),
                ("b_id", "submission"),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation_pair")),
        sa.UniqueConstraint("task_id", "position", name=op.f("uq_annotation_pair_task_id_position")),
    )
    op.create_table(
        "annotation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("b_first", sa.Boolean(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("labelled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["annotation_pair.id"],
            name=op.f("fk_annotation_pair_id_annotation_pair"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_annotation_account_id_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation")),
        sa.UniqueConstraint("pair_id", "account_id", name=op.f("uq_annotation_pair_id_account_id")),
    )
    op.create_index(op.f("ix_annotation_account_id"), "annotation", ["account_id"], unique=False)


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("annotation")
    op.drop_table("annotation_pair")
    op.drop_table("annotation_task")
