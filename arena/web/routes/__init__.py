"""What is served beside the pages, by the same server: plain routes without scripts or sessions."""
