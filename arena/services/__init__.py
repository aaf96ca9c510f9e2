"""Use cases behind the CLI, API and site."""
