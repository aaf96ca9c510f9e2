"""What people label, in the store."""
