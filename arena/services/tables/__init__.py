"""Tables for papers, of stored rounds and of the sets that they judged."""
