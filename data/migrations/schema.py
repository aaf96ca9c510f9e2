"""Metadata of all tables, for migrations."""

from sqlalchemy import MetaData

from data.models import jobs, rounds, submissions, tables, teams
from data.models.base import metadata

__all__ = ["ddl_metadata", "jobs", "metadata", "rounds", "submissions", "tables", "teams"]


def ddl_metadata() -> MetaData:
    """Return a copy of all tables for DDL, with conditions of indexes for both engines.

    It is a copy, since SQLAlchemy removes a foreign key that is dropped or added separately from every later
    `CREATE TABLE` of the same metadata.
    """
    copy = MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.sorted_tables:
        for index in table.to_metadata(copy).indexes:
            condition = index.dialect_options["sqlite"]["where"]
            if condition is not None:
                index.dialect_options["postgresql"]["where"] = condition
    return copy
