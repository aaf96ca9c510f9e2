"""Battle files of the project and of the public arenas, read and written as streams."""
