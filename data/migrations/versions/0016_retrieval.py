"""retrieved passages without answers, and relevance judgments."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def _to(column: str, table: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(name), ondelete="CASCADE")


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "ranking",
        sa.Column("submission_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("question_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("passages", sa.JSON(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("texts", sa.JSON(none_as_null=True), nullable=True),
        _to("submission_id", "submission", "fk_ranking_submission_id_submission"),
        _to("question_id", "question", "fk_ranking_question_id_question"),
        sa.PrimaryKeyConstraint("submission_id", "question_id", name=op.f("pk_ranking")),
    )
    op.create_index("ix_ranking_question_id", "ranking", ["question_id"])
    op.create_table(
        "qrels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("relevant_from", sa.Float(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _to("set_id", "question_set", "fk_qrels_set_id_question_set"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_qrels")),
        sa.UniqueConstraint("set_id", "name", name="uq_qrels_set_id_name"),
    )
    op.create_table(
        "qrel",
        sa.Column("qrels_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("question_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("grades", sa.JSON(), nullable=False),
        _to("qrels_id", "qrels", "fk_qrel_qrels_id_qrels"),
        _to("question_id", "question", "fk_qrel_question_id_question"),
        sa.PrimaryKeyConstraint("qrels_id", "question_id", name=op.f("pk_qrel")),
    )
    op.create_index("ix_qrel_question_id", "qrel", ["question_id"])


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("qrel")
    op.drop_table("qrels")
    op.drop_table("ranking")
