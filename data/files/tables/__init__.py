"""Reader of tables of texts in any file format."""
