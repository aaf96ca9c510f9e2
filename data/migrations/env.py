"""Entry point of Alembic: runs the migrations on an open connection."""

from alembic import context

from data.migrations.schema import ddl_metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=ddl_metadata(), render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
