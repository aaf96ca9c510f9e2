"""HTTP API under `/api/v1`, a module per kind of resource."""
