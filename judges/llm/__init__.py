"""LLM access: requests, transports, reply cache, scheduler, budget and prices."""
