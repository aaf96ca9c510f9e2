"""public blind votes: polls of sets, the pairs that visitors are shown, and whether texts may be shown."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def _to(column: str, table: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(name), ondelete="CASCADE")


def upgrade() -> None:
    """Bring the schema to this version."""
    op.add_column(
        "question_set", sa.Column("public_texts", sa.Boolean(), nullable=False, server_default=sa.true())
    )
    op.create_table(
        "poll",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        _to("set_id", "question_set", "fk_poll_set_id_question_set"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_poll")),
        sa.UniqueConstraint("set_id", name=op.f("uq_poll_set_id")),
    )
    op.create_table(
        "poll_pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("poll_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("decoy_id", sa.Integer(), nullable=True),
        sa.Column("b_first", sa.Boolean(), nullable=False),
        sa.Column("visitor", sa.String(64), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("network", sa.String(64), nullable=False),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("preference", sa.String(4), nullable=True),
        sa.Column("rejection", sa.String(16), nullable=True),
        sa.Column("voted_at", sa.DateTime(timezone=True), nullable=True),
        _to("poll_id", "poll", "fk_poll_pair_poll_id_poll"),
        _to("question_id", "question", "fk_poll_pair_question_id_question"),
        _to("a_id", "submission", "fk_poll_pair_a_id_submission"),
        _to("b_id", "submission", "fk_poll_pair_b_id_submission"),
        _to("decoy_id", "question", "fk_poll_pair_decoy_id_question"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_poll_pair")),
        sa.UniqueConstraint("token", name=op.f("uq_poll_pair_token")),
    )
    op.create_index("ix_poll_pair_poll_id_visitor", "poll_pair", ["poll_id", "visitor"])
    op.create_index(
        "ix_poll_pair_poll_id_address_served_at", "poll_pair", ["poll_id", "address", "served_at"]
    )


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("poll_pair")
    op.drop_table("poll")
    op.drop_column("question_set", "public_texts")
