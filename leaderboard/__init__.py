"""What goes out, pure: ratings, intervals, rates, agreement, standings, charts and battle files."""
