"""Alembic's entry: runs the migrations on the connection it is handed."""

from alembic import context

from data.annotation_tables import given_labels  # noqa: F401 - importing declares the tables
from data.tables import Base
from data.team_tables import teams  # noqa: F401 - importing declares the tables

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
