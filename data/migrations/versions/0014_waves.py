"""rounds judged in waves: cheap verdicts, draws with their chances, and why they ended."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def _to(column: str, table: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(name), ondelete="CASCADE")


def upgrade() -> None:
    """Bring the schema to this version."""
    # Every battle there is belongs to a round that judges all of them.
    op.add_column("battle", sa.Column("wave", sa.Integer(), nullable=True, server_default="0"))
    op.create_table(
        "cheap_verdict",
        sa.Column("battle_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=True),
        sa.Column("share", sa.Float(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("judgments", sa.JSON(), nullable=False),
        _to("battle_id", "battle", "fk_cheap_verdict_battle_id_battle"),
        _to("round_id", "round", "fk_cheap_verdict_round_id_round"),
        sa.PrimaryKeyConstraint("battle_id", "place", name=op.f("pk_cheap_verdict")),
    )
    op.create_index("ix_cheap_verdict_round_id_place", "cheap_verdict", ["round_id", "place"])
    op.create_table(
        "wave",
        sa.Column("round_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("battles", sa.Integer(), nullable=False),
        sa.Column("width", sa.Float(), nullable=True),
        sa.Column("chances", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _to("round_id", "round", "fk_wave_round_id_round"),
        sa.PrimaryKeyConstraint("round_id", "number", name=op.f("pk_wave")),
    )
    op.create_table(
        "waves_end",
        sa.Column("round_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("width", sa.Float(), nullable=True),
        sa.Column("shares", sa.JSON(), nullable=False),
        sa.Column("classifier", sa.JSON(), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        _to("round_id", "round", "fk_waves_end_round_id_round"),
        sa.PrimaryKeyConstraint("round_id", name=op.f("pk_waves_end")),
    )


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("waves_end")
    op.drop_table("wave")
    op.drop_table("cheap_verdict")
    op.drop_column("battle", "wave")
