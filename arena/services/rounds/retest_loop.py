"""Makes the pending calls of a retest under a lease, until the end or an interrupt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.services.rounds.judging_loop import BATCH, JudgingLoop, contest
from data.progress import Progress
from data.records.retests import PendingCall, Retest
from judges.base import Judge


@dataclass(slots=True, kw_only=True)
class RetestLoop(JudgingLoop[PendingCall]):
    """Asks what is pending of a retest; `judges` are by the names of their wordings."""

    retest: Retest
    judges: Mapping[str, Judge]

    def batches(self) -> Iterator[Sequence[PendingCall]]:
        """Batches of calls, in the order in which they were planned."""
        after = 0
        while batch := self.store.retests.pending(self.retest.id, after=after, limit=BATCH):
            after = batch[-1].id
            yield batch

    async def ask(self, item: PendingCall) -> None:
        """Make a call."""
        verdict = await self.judges[item.wording].judge(contest(item.battle, item))
        self.settled.append((item.id, verdict))

    async def flush(self) -> None:
        """Commit what was settled."""
        batch, self.settled = self.settled, []
        if not batch:
            return
        await asyncio.to_thread(self.store.retests.record, self.retest.id, batch, lease_id=self.lease_id)
        self.done += len(batch)
        self.report(Progress(self.done, self.total, self.watch.seconds))
