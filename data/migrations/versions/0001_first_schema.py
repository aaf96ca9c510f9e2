"""first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "question_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("reference_name", sa.String(length=100), nullable=False),
        sa.Column("domains", sa.JSON(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question_set")),
        sa.UniqueConstraint("name", name=op.f("uq_question_set_name")),
    )
    op.create_table(
        "reply",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("finish_reason", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("latency", sa.Float(), nullable=False),
        sa.Column("logprobs", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_reply")),
    )
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["set_id"], ["question_set.id"], name=op.f("fk_question_set_id_question_set"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
        sa.UniqueConstraint("set_id", "key", name=op.f("uq_question_set_id_key")),
        sa.UniqueConstraint("set_id", "position", name=op.f("uq_question_set_id_position")),
    )
    op.create_table(
        "round",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("judge", sa.String(length=100), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("budget_usd", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["set_id"], ["question_set.id"], name=op.f("fk_round_set_id_question_set"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round")),
        sa.UniqueConstraint("name", name=op.f("uq_round_name")),
    )
    op.create_table(
        "submission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("system", sa.String(length=100), nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("no_answers", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["set_id"],
            ["question_set.id"],
            name=op.f("fk_submission_set_id_question_set"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint("set_id", "system", "version", name=op.f("uq_submission_set_id_system_version")),
    )
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("contexts", sa.JSON(), nullable=False),
        sa.Column("no_answer", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name=op.f("fk_answer_question_id_question"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_answer_submission_id_submission"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answer")),
        sa.UniqueConstraint("submission_id", "question_id", name=op.f("uq_answer_submission_id_question_id")),
    )
    with op.batch_alter_table("answer", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_answer_question_id"), ["question_id"], unique=False)

    op.create_table(
        "battle",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=20), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("preference", sa.String(length=4), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("flipped", sa.Boolean(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["a_id"], ["submission.id"], name=op.f("fk_battle_a_id_submission"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["b_id"], ["submission.id"], name=op.f("fk_battle_b_id_submission"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name=op.f("fk_battle_question_id_question"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_battle_round_id_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_battle")),
        sa.UniqueConstraint("round_id", "key", name=op.f("uq_battle_round_id_key")),
    )
    with op.batch_alter_table("battle", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_battle_round_id_outcome"), ["round_id", "outcome"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_battle_round_id_question_id"), ["round_id", "question_id"], unique=False
        )

    op.create_table(
        "board",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("standings", sa.JSON(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("notice", sa.Text(), nullable=False),
        sa.Column("retracted", sa.Boolean(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_board_round_id_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board")),
        sa.UniqueConstraint("name", name=op.f("uq_board_name")),
        sa.UniqueConstraint("round_id", name=op.f("uq_board_round_id")),
    )
    op.create_table(
        "ledger",
        sa.Column("round_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("cap_usd", sa.Float(), nullable=True),
        sa.Column("reserved_usd", sa.Float(), nullable=False),
        sa.Column("spent_usd", sa.Float(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_ledger_round_id_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("round_id", name=op.f("pk_ledger")),
    )
    op.create_table(
        "judgment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("battle_id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.String(length=100), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("presentation", sa.String(length=2), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("preference", sa.String(length=4), nullable=True),
        sa.Column("margin", sa.Float(), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("grade", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("prompt_hash", sa.String(length=64), nullable=False),
        sa.Column("parser", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("reply_key", sa.String(length=64), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("latency", sa.Float(), nullable=False),
        sa.Column("cached", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["battle_id"], ["battle.id"], name=op.f("fk_judgment_battle_id_battle"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgment")),
    )
    with op.batch_alter_table("judgment", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_judgment_battle_id"), ["battle_id"], unique=False)

    op.create_table(
        "score",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=100), nullable=False),
        sa.Column("judge", sa.String(length=100), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id"], ["answer.id"], name=op.f("fk_score_answer_id_answer"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score")),
        sa.UniqueConstraint("answer_id", "metric", "judge", name=op.f("uq_score_answer_id_metric_judge")),
    )


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("score")
    with op.batch_alter_table("judgment", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_judgment_battle_id"))

    op.drop_table("judgment")
    op.drop_table("ledger")
    op.drop_table("board")
    with op.batch_alter_table("battle", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_battle_round_id_question_id"))
        batch_op.drop_index(batch_op.f("ix_battle_round_id_outcome"))

    op.drop_table("battle")
    with op.batch_alter_table("answer", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_answer_question_id"))

    op.drop_table("answer")
    op.drop_table("submission")
    op.drop_table("round")
    op.drop_table("question")
    op.drop_table("reply")
    op.drop_table("question_set")
