"""Systems against each other: how sure the lead is, where, on which questions, by which facts."""
