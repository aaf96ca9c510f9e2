"""`arena rounds`: plan, run, publish and report rounds."""
