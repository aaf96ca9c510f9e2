"""Files of answers, from upload to accepted version."""
