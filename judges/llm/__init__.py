"""LLM access: requests, transports, reply cache, scheduler, budget, prices and tasks.

`judges.llm.client.open_client` creates a client; metrics use `judges.llm.tasks.TaskRunner`. Client libraries
are imported on the first call.
"""
