"""an index of words that holds their places by submission and term, alike on every database."""

import sqlalchemy as sa
from alembic import op

from data.progress import working
from data.store.text_index import POSTGRES_SCHEMA, SQLITE_SCHEMA, build_index

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema to this version."""
    connection = op.get_bind()
    # Migration 0021 once made another index of this name.
    op.execute("DROP TABLE IF EXISTS text_index")
    op.execute(SQLITE_SCHEMA if connection.dialect.name == "sqlite" else POSTGRES_SCHEMA)
    texts = sa.text("SELECT (SELECT count(*) FROM question) + (SELECT count(*) FROM answer)")
    with working("indexing texts", connection.execute(texts).scalar_one()) as work:
        build_index(connection, work)


def downgrade() -> None:
    """Take this version back."""
    op.drop_table("text_index")
