"""applications for teams."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Bring the schema to this version."""
    op.create_table(
        "application",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("title", "contact", "reason")),
        sa.Column("channel", sa.String(length=16), nullable=False),
        sa.Column("address", sa.String(length=255), nullable=False),
        sa.Column("client", sa.String(length=64), nullable=False),
        sa.Column("code", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("account", sa.String(length=100), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("decided_at", MOMENT, nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_application")),
        sa.UniqueConstraint("code", name=op.f("uq_application_code")),
    )
    op.create_index(op.f("ix_application_state"), "application", ["state"])
    op.create_index(op.f("ix_application_created_at"), "application", ["created_at"])


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("application")
