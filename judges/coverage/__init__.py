"""Coverage of aspects by grounded claims (ICAT)."""
