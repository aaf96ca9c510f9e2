"""Coverage of a question's aspects by the grounded claims of an answer (ICAT)."""
