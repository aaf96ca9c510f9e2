"""Create the declared tables.

It replaces migrations 0001 to 0027, so a database at 0027 is up to date with it.
"""

from alembic import op

from data.migrations.schema import ddl_metadata

revision = "0027"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the schema in an empty database."""
    ddl_metadata().create_all(op.get_bind())
