"""The queue, its leases and cancellation."""
