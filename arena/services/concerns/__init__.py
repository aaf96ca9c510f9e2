"""What needs an organiser: found in submissions and rounds, disputed by readers, decided once."""
