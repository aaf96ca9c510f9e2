"""The tables, a module a subject. Rows are made of records, never of user input."""
