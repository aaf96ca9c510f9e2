"""Published boards and their evidence for agents, by the Model Context Protocol; read-only."""
