"""Read-only access of agents to published boards and their evidence, by the Model Context Protocol."""
