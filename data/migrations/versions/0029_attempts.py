"""Drop the limit of attempts of a job, which nothing reads."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drop the column; a new database has none."""
    if "most_attempts" in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("job")}:
        op.drop_column("job", "most_attempts")
