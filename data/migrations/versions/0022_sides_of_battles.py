"""indices that find the battles of a system in a round."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    for side in ("a_id", "b_id"):
        op.create_index(op.f(f"ix_battle_round_id_{side}"), "battle", ["round_id", side])


def downgrade() -> None:
    """Take this version back."""
    for side in ("a_id", "b_id"):
        op.drop_index(op.f(f"ix_battle_round_id_{side}"), "battle")
