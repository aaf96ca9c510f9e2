"""Another machine's arena, reached by its HTTP API."""
