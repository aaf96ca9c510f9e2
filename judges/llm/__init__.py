"""LLM access: requests, transports, reply cache, scheduler, budget, prices and tasks.

`judges.llm.client.open_client` puts everything together; `judges.llm.tasks.TaskRunner` asks what the
metrics ask. Client libraries load when an endpoint is first asked.
"""
