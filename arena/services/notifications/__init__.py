"""Being told: who subscribed to events, and how these reach them."""
