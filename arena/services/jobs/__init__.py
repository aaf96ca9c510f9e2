"""Job queue, leases and cancellation."""
