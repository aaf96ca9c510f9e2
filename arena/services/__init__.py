"""Use cases, one module each; every surface calls these."""
