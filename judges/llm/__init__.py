"""LLM access: requests, transports, reply cache, scheduler, budget and prices.

`open_asker` puts everything together; importing this loads no client library.
"""

from judges.llm.budget import Balance, Ledger, MemoryLedger
from judges.llm.cache import MemoryReplyCache, ReplyCache
from judges.llm.opening import open_asker
from judges.llm.requests import Asker, Message, Request, ResponseFormat, Sampling, Unanswered
from judges.llm.scheduler import Scheduler
from judges.llm.settings import AccessSettings, CacheMode, TransportKind

__all__ = [
    "AccessSettings",
    "Asker",
    "Balance",
    "CacheMode",
    "Ledger",
    "MemoryLedger",
    "MemoryReplyCache",
    "Message",
    "ReplyCache",
    "Request",
    "ResponseFormat",
    "Sampling",
    "Scheduler",
    "TransportKind",
    "Unanswered",
    "open_asker",
]
