"""The tables as they are declared, the index of words, and an audit log that is only ever added to.

Its number is that of the last migration of those it replaces: a database that they made is up to date.
"""

from alembic import op

from data.store.text_index import POSTGRES_SCHEMA, SQLITE_SCHEMA
from data.tables.schema import ddl_metadata

revision = "0024"
down_revision = None
branch_labels = None
depends_on = None

APPEND_ONLY = "The audit log is only ever added to."
SQLITE_GUARDS = tuple(
    f"""CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit
        BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END"""
    for verb in ("UPDATE", "DELETE")
)
POSTGRES_GUARDS = (
    f"""CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{APPEND_ONLY}'; END $$""",
    """CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
        FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()""",
)


def upgrade() -> None:
    """Make the schema in an empty database."""
    connection = op.get_bind()
    ddl_metadata().create_all(connection)
    sqlite = connection.dialect.name == "sqlite"
    for statement in (SQLITE_SCHEMA, *SQLITE_GUARDS) if sqlite else (POSTGRES_SCHEMA, *POSTGRES_GUARDS):
        op.execute(statement)
