"""The HTTP API under `/api/v1`: every module translates one kind of resource; services do the work."""
