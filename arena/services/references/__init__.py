"""References that people write for a set: drafts, writing, audit, export, measures."""
