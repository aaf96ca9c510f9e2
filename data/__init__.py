"""Vocabulary and storage: records, errors, tables, the store, and question sets."""
