"""Question sets as files: the folder format of the design and the LFRQA files as published."""
