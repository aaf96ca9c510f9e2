"""How far judges agree with annotators, with each other, and on the ranking of systems."""
