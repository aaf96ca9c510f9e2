"""retests: battles asked anew, control battles of sets and judges, and what retests cost."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def _to(column: str, table: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(name), ondelete="CASCADE")


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "retest",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("battles", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("swapped", sa.Boolean(), nullable=False),
        sa.Column("wordings", sa.JSON(), nullable=False),
        sa.Column("budget_usd", sa.Float(), nullable=True),
        sa.Column("seat_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _to("round_id", "round", "fk_retest_round_id_round"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retest")),
        sa.UniqueConstraint("round_id", "number", name=op.f("uq_retest_round_id_number")),
    )
    op.create_table(
        "retest_ledger",
        sa.Column("retest_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("cap_usd", sa.Float(), nullable=True),
        sa.Column("reserved_usd", sa.Float(), nullable=False),
        sa.Column("spent_usd", sa.Float(), nullable=False),
        sa.Column("lost_usd", sa.Float(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        _to("retest_id", "retest", "fk_retest_ledger_retest_id_retest"),
        sa.PrimaryKeyConstraint("retest_id", name=op.f("pk_retest_ledger")),
    )
    op.create_table(
        "asking",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("retest_id", sa.Integer(), nullable=True),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("battle_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("wording", sa.String(120), nullable=False),
        sa.Column("turned", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=True),
        sa.Column("preference", sa.String(4), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("flipped", sa.Boolean(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("judgments", sa.JSON(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        _to("retest_id", "retest", "fk_asking_retest_id_retest"),
        _to("round_id", "round", "fk_asking_round_id_round"),
        _to("battle_id", "battle", "fk_asking_battle_id_battle"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_asking")),
        sa.UniqueConstraint("key", name=op.f("uq_asking_key")),
    )
    op.create_index("ix_asking_battle_id", "asking", ["battle_id"])
    op.create_index("ix_asking_retest_id_outcome", "asking", ["retest_id", "outcome"])
    op.create_index("ix_asking_round_id_outcome", "asking", ["round_id", "outcome"])
    op.create_table(
        "control",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.String(64), nullable=False),
        sa.Column("battle_id", sa.Integer(), nullable=False),
        _to("set_id", "question_set", "fk_control_set_id_question_set"),
        _to("battle_id", "battle", "fk_control_battle_id_battle"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_control")),
        sa.UniqueConstraint("set_id", "judge", "battle_id", name=op.f("uq_control_set_id_judge_battle_id")),
    )
    op.create_table(
        "asking_hold",
        sa.Column("asking_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat_id", sa.Integer(), nullable=False),
        _to("asking_id", "asking", "fk_asking_hold_asking_id_asking"),
        _to("seat_id", "seat", "fk_asking_hold_seat_id_seat"),
        sa.PrimaryKeyConstraint("asking_id", name=op.f("pk_asking_hold")),
    )
    op.create_index("ix_asking_hold_seat_id", "asking_hold", ["seat_id"])


def downgrade() -> None:
    """Take this version back."""
    for table in ("asking_hold", "control", "asking", "retest_ledger", "retest"):
        op.drop_table(table)
