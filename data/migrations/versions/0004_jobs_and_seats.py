"""jobs, the seats of workers at them, and which seat holds which battle."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("workers", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=100), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("most_attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_job_round_id_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_job_state_priority"), ["state", "priority"], unique=False)
        batch_op.create_index(
            "uq_job_round_active",
            ["round_id"],
            unique=True,
            sqlite_where=sa.text("state IN ('queued', 'running')"),
            postgresql_where=sa.text("state IN ('queued', 'running')"),
        )

    op.create_table(
        "seat",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=100), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("born", sa.String(length=40), nullable=False),
        sa.Column("taken_at", sa.Float(), nullable=False),
        sa.Column("beat_at", sa.Float(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("drawn_usd", sa.Float(), nullable=False),
        sa.Column("paid_usd", sa.Float(), nullable=False),
        sa.Column("paid_input", sa.Integer(), nullable=False),
        sa.Column("paid_output", sa.Integer(), nullable=False),
        sa.Column("recorded_usd", sa.Float(), nullable=False),
        sa.Column("recorded_input", sa.Integer(), nullable=False),
        sa.Column("recorded_output", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_seat_job_id_job"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seat")),
        sa.UniqueConstraint("job_id", "slot", name=op.f("uq_seat_job_id_slot")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "battle_hold",
        sa.Column("battle_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["battle_id"], ["battle.id"], name=op.f("fk_battle_hold_battle_id_battle"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["seat_id"], ["seat.id"], name=op.f("fk_battle_hold_seat_id_seat"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("battle_id", name=op.f("pk_battle_hold")),
    )
    with op.batch_alter_table("battle_hold", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_battle_hold_seat_id"), ["seat_id"], unique=False)

    op.create_table(
        "canary_hold",
        sa.Column("canary_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["canary_id"], ["canary.id"], name=op.f("fk_canary_hold_canary_id_canary"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["seat_id"], ["seat.id"], name=op.f("fk_canary_hold_seat_id_seat"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("canary_id", name=op.f("pk_canary_hold")),
    )
    with op.batch_alter_table("canary_hold", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_canary_hold_seat_id"), ["seat_id"], unique=False)

    with op.batch_alter_table("battle", schema=None) as batch_op:
        batch_op.create_index(
            "ix_battle_open",
            ["round_id", "question_id", "id"],
            unique=False,
            sqlite_where=sa.text("outcome IS NULL"),
            postgresql_where=sa.text("outcome IS NULL"),
        )


def downgrade() -> None:
    """Take this version back."""
    with op.batch_alter_table("battle", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_battle_open",
            sqlite_where=sa.text("outcome IS NULL"),
            postgresql_where=sa.text("outcome IS NULL"),
        )

    with op.batch_alter_table("canary_hold", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_canary_hold_seat_id"))

    op.drop_table("canary_hold")
    with op.batch_alter_table("battle_hold", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_battle_hold_seat_id"))

    op.drop_table("battle_hold")
    op.drop_table("seat")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_job_round_active",
            sqlite_where=sa.text("state IN ('queued', 'running')"),
            postgresql_where=sa.text("state IN ('queued', 'running')"),
        )
        batch_op.drop_index(batch_op.f("ix_job_state_priority"))

    op.drop_table("job")
