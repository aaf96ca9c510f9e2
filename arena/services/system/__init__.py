"""Care of the database, and monitoring."""
