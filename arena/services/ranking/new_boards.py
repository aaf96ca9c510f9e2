"""Boards from uploaded files: estimate, start and watch."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Thread
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.boards.service import BoardService
from arena.services.jobs.service import JobService, JobStatus
from arena.services.judging.judges import JudgeService, JudgeTest
from arena.services.ranking.requests import RankRequest
from arena.services.ranking.service import Prepared, RankingService
from arena.services.rounds.battle_table import LiveStanding
from arena.services.rounds.service import RoundService
from arena.settings import Settings, environment_of
from data.errors import ArenaError, InputError
from data.models import JobKind, Round, RoundState, TokenScope
from judges.catalogue import require_registered
from submissions.answer_tables import AnswerTable

CONCURRENCY = 16
Pricing = Callable[[], AbstractContextManager[RankingService]]
Testing = Callable[[str, str], AbstractContextManager[JudgeService]]


class NewBoards:
    """Service for the page that creates a board from uploaded files.

    `pricing` opens an empty ranking with this arena's cached replies, `testing` a judge at an endpoint with
    a key.
    """

    def __init__(
        self,
        ranking: RankingService,
        rounds: RoundService,
        jobs: JobService,
        boards: BoardService,
        settings: Settings,
        *,
        pricing: Pricing,
        testing: Testing,
    ) -> None:
        self._ranking, self._rounds, self._jobs, self._boards = ranking, rounds, jobs, boards
        self._settings, self._pricing, self._testing = settings, pricing, testing

    def price(
        self,
        request: RankRequest,
        tables: Sequence[AnswerTable],
        references: AnswerTable | None,
        *,
        caller: Caller,
    ) -> tuple[Prepared, Mapping[str, Any]]:
        """Return the prepared ranking and its estimate without storing anything."""
        require(caller, TokenScope.ORGANISE)
        _require_name(request.judge)
        with in_fields(), self._pricing() as ranking:
            prepared = ranking.prepare(request, tables, references, caller=caller)
            plan = ranking.estimate(prepared, caller=caller)
            ranking.require_ready(prepared)
        return prepared, plan

    def test(self, judge: str, *, endpoint: str, key: str, caller: Caller) -> JudgeTest | None:
        """Try a judge or model on three battles: here with its own endpoint or key, else in a worker (None).

        Raises:
            EndpointError: The endpoint does not answer, or refuses key or model.
        """
        require(caller, TokenScope.ORGANISE)
        _require_name(judge)
        if not endpoint and not key:
            self._jobs.test_judge(judge, caller=caller)
            return None
        with self._testing(endpoint, key) as tester:
            return tester.test(judge)

    def start(
        self,
        request: RankRequest,
        tables: Sequence[AnswerTable],
        references: AnswerTable | None,
        *,
        key: str = "",
        caller: Caller,
    ) -> Round:
        """Store the files and queue the round for a worker.

        An endpoint's own `key` is never stored: only a process that judges this round gets it.
        """
        prepared, plan = self.price(request, tables, references, caller=caller)
        if request.budget_usd is None and plan["cost_usd"] != 0:
            raise InputError("These requests may cost money.", advice="Set a budget.")
        prepared = self._ranking.prepare(request, tables, references, caller=caller)
        round_ = self._ranking.round_of(prepared, caller=caller)
        if round_.state in {RoundState.FINISHED, RoundState.PUBLISHED}:
            return round_
        if key:
            self._judge_in_subprocess(round_.name, key)
        else:
            self._jobs.judge(round_.name, options={"concurrency": CONCURRENCY}, caller=caller)
        return round_

    def watch(self, name: str, *, caller: Caller) -> tuple[Round, JobStatus | None]:
        """Return a round with its job; queue publishing once it is judged."""
        require(caller, TokenScope.ORGANISE)
        round_, _ = self._rounds.status(name)
        job = self._jobs.of_round(round_.id)
        ended = job is None or job.job.finished_at is not None
        # A board that could not be published is not tried again.
        tried = job is not None and job.job.kind is JobKind.PUBLISH
        if round_.state is RoundState.FINISHED and ended and not tried:
            self._boards.queue_publishing(name, partial=True, caller=caller)
            job = self._jobs.of_round(round_.id)
        return round_, job

    def standing(self, name: str, *, caller: Caller) -> LiveStanding:
        """Return the live standings of a round."""
        require(caller, TokenScope.ORGANISE)
        return self._ranking.standing(name)

    def _judge_in_subprocess(self, name: str, key: str) -> None:
        environment = {**environment_of(self._settings), "OPENAI_API_KEY": key}
        process = subprocess.Popen(
            [sys.executable, "-m", "arena", "rounds", "resume", name],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        Thread(target=process.wait, name=f"judging {name}", daemon=True).start()


@contextmanager
def in_fields() -> Iterator[None]:
    """Remove commands and options from advice, since a page has fields."""
    try:
        yield
    except ArenaError as error:
        error.advice = without_commands(error.advice) or "Correct the files, or the fields above."
        raise


def without_commands(text: str) -> str:
    """Return a text without the sentences that name commands or options."""
    sentences = re.split(r"(?<=[.])\s+", text)
    return " ".join(
        sentence for sentence in sentences if not re.search(r"--[a-z]|NAME=|arena [a-z]", sentence)
    )


def _require_name(judge: str) -> None:
    """Refuse paths and functions, which are for local users only; `maker/model` is a model."""
    parts = judge.split("/")
    require_registered(*(parts if all(part.strip(".") for part in parts) else (judge,)))
