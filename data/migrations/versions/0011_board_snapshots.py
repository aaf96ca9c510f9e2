"""boards: a round may have several snapshots, of which one stands under its name."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

STANDING = "replaced_at IS NULL"


def upgrade() -> None:
    """Bring the schema to this version."""
    with op.batch_alter_table("board") as batch:
        batch.add_column(sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=True))
        batch.alter_column(
            "name", existing_type=sa.String(100), type_=sa.String(120), existing_nullable=False
        )
        batch.drop_constraint("uq_board_round_id", type_="unique")
    op.create_index(
        "ix_board_standing",
        "board",
        ["round_id"],
        unique=True,
        sqlite_where=sa.text(STANDING),
        postgresql_where=sa.text(STANDING),
    )


def downgrade() -> None:
    """Take this version back; of several snapshots the one that stands is kept."""
    op.drop_index("ix_board_standing", "board")
    op.execute(f"DELETE FROM board WHERE NOT ({STANDING})")  # noqa: S608 - a constant
    with op.batch_alter_table("board") as batch:
        batch.create_unique_constraint("uq_board_round_id", ["round_id"])
        batch.alter_column(
            "name", existing_type=sa.String(120), type_=sa.String(100), existing_nullable=False
        )
        batch.drop_column("replaced_at")
