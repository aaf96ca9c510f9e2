"""Migrations make the schema that the tables describe."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from data.errors import StoreError
from data.store import Store
from data.store.engine import Database
from data.store.schema import ddl_metadata


@pytest.mark.long
def test_migrations_make_the_tables(blank_url: str) -> None:
    """Nothing differs between the migrated schema and `data.models`."""
    store = Store.open(blank_url)

    with store.database.begin() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, ddl_metadata()) == []
    store.close()


def test_schema_of_a_newer_program_is_refused_in_words(blank_url: str) -> None:
    """A database that a newer program made is left alone, with one sentence that says what to do."""
    Store.open(blank_url).close()
    database = Database(blank_url)
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"does not know.*made it, or a newer one"):
        database.upgrade()
    assert database.version() == "9999"
    database.close()


def test_unique_indexes_have_their_conditions_on_both_engines(blank_url: str) -> None:
    """A round may have several jobs and boards, of which one is active and one stands: not one alone."""
    store = Store.open(blank_url)
    with store.database.begin() as connection:
        found = {
            name: any(key.endswith("_where") for key in index["dialect_options"])
            for table, name in (("job", "uq_job_round_active"), ("board", "ix_board_standing"))
            for index in inspect(connection).get_indexes(table)
            if index["name"] == name
        }
    assert found == {"uq_job_round_active": True, "ix_board_standing": True}
    store.close()
