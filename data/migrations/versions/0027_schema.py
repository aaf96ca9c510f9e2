"""Create the declared tables and an append-only audit log.

It replaces migrations 0001 to 0027, so a database at 0027 is up to date with it.
"""

from alembic import op

from data.tables.schema import ddl_metadata

revision = "0027"
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
    """Create the schema in an empty database."""
    connection = op.get_bind()
    ddl_metadata().create_all(connection)
    sqlite = connection.dialect.name == "sqlite"
    for statement in SQLITE_GUARDS if sqlite else POSTGRES_GUARDS:
        op.execute(statement)
