"""What every command of the tree has: help that begins with an example, and names of before."""
