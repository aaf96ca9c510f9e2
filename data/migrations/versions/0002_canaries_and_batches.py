"""canaries, batches, and judgments and ledgers that hold what was paid."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROUND_SUMS = """
    UPDATE ledger SET
        input_tokens = (SELECT COALESCE(SUM(j.input_tokens), 0) FROM judgment j
            JOIN battle b ON b.id = j.battle_id WHERE b.round_id = ledger.round_id),
        output_tokens = (SELECT COALESCE(SUM(j.output_tokens), 0) FROM judgment j
            JOIN battle b ON b.id = j.battle_id WHERE b.round_id = ledger.round_id),
        spent_usd = CASE WHEN cap_usd IS NULL THEN
            (SELECT COALESCE(SUM(j.cost_usd), 0.0) FROM judgment j
                JOIN battle b ON b.id = j.battle_id WHERE b.round_id = ledger.round_id)
            ELSE spent_usd END
"""


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "canary",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("battle_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("family", sa.String(length=40), nullable=False),
        sa.Column("attacker", sa.String(length=4), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("preference", sa.String(length=4), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("judgments", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["battle_id"], ["battle.id"], name=op.f("fk_canary_battle_id_battle"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_canary_round_id_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_canary")),
        sa.UniqueConstraint("round_id", "key", name=op.f("uq_canary_round_id_key")),
    )
    with op.batch_alter_table("canary", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_canary_battle_id"), ["battle_id"], unique=False)

    op.create_table(
        "batch",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("batch_id", sa.Text(), nullable=False),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_batch")),
    )
    # Until now a judgment bore what its reply had cost whoever asked first.
    op.execute("UPDATE judgment SET input_tokens = 0, output_tokens = 0, cost_usd = 0.0 WHERE cached")
    op.execute(ROUND_SUMS)


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("batch")
    with op.batch_alter_table("canary", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_canary_battle_id"))

    op.drop_table("canary")
