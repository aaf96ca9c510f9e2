"""The store: every SQL statement of the project, behind plain methods that take and give records."""

from data.store.store import Store

__all__ = ["Store"]
