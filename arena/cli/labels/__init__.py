"""`arena labels`: what people label, and what they say."""
