"""Dependency wiring: builds services from settings and store."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from arena.settings import DATABASE, LlmOverrides, Settings, read_settings, settings_in
from data.lazy import lazy
from data.plugins import use_plugin_files
from judges.llm.transports.registry import transport_info

if TYPE_CHECKING:
    # Imported on first use, so that `arena --help` stays fast.
    from arena.demo import DemoService
    from arena.services.accounts.auth import IdentityService
    from arena.services.accounts.invitations import InvitationService
    from arena.services.accounts.teams import TeamService
    from arena.services.accounts.tokens import SessionService, TokenService
    from arena.services.boards.service import BoardService, Note
    from arena.services.contexts import ContextService
    from arena.services.evidence.question_lists import QuestionListService
    from arena.services.evidence.questions import EvidenceService
    from arena.services.evidence.systems import SystemService
    from arena.services.evidence.weaknesses import WeaknessService
    from arena.services.jobs.cancellation import Engine, StopEvent
    from arena.services.jobs.queue import JobLeases
    from arena.services.jobs.service import JobService
    from arena.services.judging.calibration import CalibrationService
    from arena.services.judging.judges import JudgeService
    from arena.services.labels import LabelService
    from arena.services.metrics.factory import MetricAccess
    from arena.services.metrics.planning import MetricPlanner
    from arena.services.metrics.results import ScoreTableService
    from arena.services.metrics.service import MetricService
    from arena.services.question_sets.passages import SetPassages
    from arena.services.question_sets.policies import PolicyService, SetAdmin
    from arena.services.question_sets.service import SetService
    from arena.services.ranking.new_boards import NewBoards
    from arena.services.ranking.results import RankingResults
    from arena.services.ranking.service import RankingService
    from arena.services.retrieval import CorpusService, RetrievalService
    from arena.services.rounds.planning import RoundPlanner
    from arena.services.rounds.service import RoundService
    from arena.services.rounds.visibility import RoundReader
    from arena.services.submissions.inbox import InboxService
    from arena.services.submissions.service import SubmissionService
    from arena.services.submissions.uploads import UploadService
    from arena.services.system import Notifier
    from data.models import Submission
    from data.store import Store


class Arena:
    """Services of the application over one store, imported on first use."""

    sets: cached_property[SetService] = lazy("arena.services.question_sets.service.SetService", "store")
    set_admin: cached_property[SetAdmin] = lazy(
        "arena.services.question_sets.policies.SetAdmin", "store", "sets", "policies"
    )
    policies: cached_property[PolicyService] = lazy(
        "arena.services.question_sets.policies.PolicyService", "store"
    )
    retrieval: cached_property[RetrievalService] = lazy(
        "arena.services.retrieval.RetrievalService", "corpora", "store"
    )
    contexts: cached_property[ContextService] = lazy(
        "arena.services.contexts.ContextService", "store", "corpora", "metrics", "metric_access"
    )
    set_passages: cached_property[SetPassages] = lazy(
        "arena.services.question_sets.passages.SetPassages", "store", "corpora"
    )
    identities: cached_property[IdentityService] = lazy(
        "arena.services.accounts.auth.IdentityService", "store"
    )
    teams: cached_property[TeamService] = lazy("arena.services.accounts.teams.TeamService", "store")
    tokens: cached_property[TokenService] = lazy("arena.services.accounts.tokens.TokenService", "store")
    judges: cached_property[JudgeService] = lazy(
        "arena.services.judging.judges.JudgeService", "store", "settings"
    )
    calibrations: cached_property[CalibrationService] = lazy(
        "arena.services.judging.calibration.CalibrationService", "jobs", "judges"
    )
    labels: cached_property[LabelService] = lazy("arena.services.labels.LabelService", "store")
    jobs: cached_property[JobService] = lazy("arena.services.jobs.service.JobService", "store", "job_leases")
    inbox: cached_property[InboxService] = lazy("arena.services.submissions.inbox.InboxService", "store")
    round_reader: cached_property[RoundReader] = lazy("arena.services.rounds.visibility.RoundReader", "store")
    score_tables: cached_property[ScoreTableService] = lazy(
        "arena.services.metrics.results.ScoreTableService", "store"
    )
    evidence: cached_property[EvidenceService] = lazy(
        "arena.services.evidence.questions.EvidenceService", "store"
    )
    question_lists: cached_property[QuestionListService] = lazy(
        "arena.services.evidence.question_lists.QuestionListService", "store"
    )
    systems: cached_property[SystemService] = lazy("arena.services.evidence.systems.SystemService", "store")
    weaknesses: cached_property[WeaknessService] = lazy(
        "arena.services.evidence.weaknesses.WeaknessService", "store"
    )
    ranking_results: cached_property[RankingResults] = lazy(
        "arena.services.ranking.results.RankingResults", "store"
    )
    demo: cached_property[DemoService] = lazy(
        "arena.demo.DemoService", "sets", "submissions", "rounds", "boards", "calibrations"
    )
    metric_access: cached_property[MetricAccess] = lazy(
        "arena.services.metrics.factory.MetricAccess", "store", "settings", "judges.spec", "corpora.source"
    )
    metrics: cached_property[MetricService] = lazy(
        "arena.services.metrics.service.MetricService", "store", "metric_access", "settings"
    )
    metric_plans: cached_property[MetricPlanner] = lazy(
        "arena.services.metrics.planning.MetricPlanner", "store", "metric_access", "judges.prices"
    )

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        use_plugin_files(settings.plugins)
        transport_info(settings.transport)

    @cached_property
    def store(self) -> Store:
        """Store, opened on first use."""
        from data.store import Store

        return Store.open(self.settings.database_url)

    @cached_property
    def uploads(self) -> UploadService:
        from arena.services.submissions.uploads import UploadService

        return UploadService(self.settings.uploads_folder, max_bytes=self.settings.upload_bytes)

    @cached_property
    def sessions(self) -> SessionService:
        from arena.services.accounts.tokens import SessionService

        return SessionService(self.store, self.identities, owned=self.settings.sole_owner)

    @cached_property
    def invitations(self) -> InvitationService:
        from arena.services.accounts.invitations import InvitationService

        return InvitationService(self.store, self.tokens, public_url=self.settings.public_url)

    @cached_property
    def notifier(self) -> Notifier:
        from arena.services.system import Notifier

        return Notifier(self.store, address=self.settings.notify, public_url=self.settings.public_url)

    @cached_property
    def engine(self) -> Engine:
        """Engine from the settings, imported by name since engines open arenas themselves."""
        engine: Engine = import_module(f".workers.{self.settings.engine}", __package__).open_engine(self)
        return engine

    @cached_property
    def submissions(self) -> SubmissionService:
        return self._submissions(self.settings.work_seconds)

    def _submissions(self, seconds: float) -> SubmissionService:
        from arena.services.submissions.service import SubmissionService
        from arena.services.submissions.uploads import FileChecks
        from submissions.limits import IntakeLimits

        limits = IntakeLimits(
            file_bytes=self.settings.upload_bytes, answer_chars=self.settings.max_answer_chars
        )
        checks = FileChecks(seconds)
        return SubmissionService(
            self.store, self.teams, self.notifier, identities=self.identities, limits=limits, checks=checks
        )

    @cached_property
    def planner(self) -> RoundPlanner:
        from arena.services.rounds.planning import RoundPlanner

        return RoundPlanner(
            self.store,
            load_spec=self.judges.spec,
            load_prices=self.judges.prices,
            cache_mode=self.settings.cache_mode,
            has_key=self.settings.has_key,
        )

    @cached_property
    def rounds(self) -> RoundService:
        from arena.services.rounds.judging_loop import RoundRunner
        from arena.services.rounds.service import RoundService

        return RoundService(
            self.store,
            self.planner,
            self.jobs,
            load_spec=self.judges.spec,
            runner=RoundRunner(self.store, self.job_leases, self.judges.open),
            notifier=self.notifier,
        )

    @cached_property
    def job_leases(self) -> JobLeases:
        from arena.services.jobs.queue import JobLeases, this_worker

        return JobLeases(self.store, this_worker(), self.settings.lease)

    @cached_property
    def boards(self) -> BoardService:
        from arena.services.boards.service import BoardService

        def score(
            set_name: str, note: Note, stop: StopEvent | None, entrants: Sequence[Submission], *, every: bool
        ) -> None:
            # Lists of boards do not need the slow import of metrics.
            self.metrics.score_board(set_name, note, stop, entrants, every=every)

        return BoardService(self.store, self.jobs, score=score)

    @cached_property
    def ranking(self) -> RankingService:
        """Rankings of answer files in a separate arena."""
        from arena.services.ranking.requests import RankingJudges
        from arena.services.ranking.service import RankingService

        return RankingService(
            self.store,
            self.sets,
            self._submissions(inf),
            self.rounds,
            self.planner,
            self.boards,
            judges=RankingJudges(self.judges, self.settings.judges_folder),
            results=self.ranking_results,
            folder=self.settings.home,
        )

    @cached_property
    def new_boards(self) -> NewBoards:
        from arena.services.ranking.new_boards import NewBoards

        return NewBoards(
            self.ranking,
            self.rounds,
            self.jobs,
            self.boards,
            self.settings,
            pricing=self._pricing,
            testing=self._testing,
        )

    @contextmanager
    def _testing(self, endpoint: str, key: str) -> Iterator[JudgeService]:
        settings = self.settings
        twin = Arena(
            replace(settings, endpoint=endpoint or settings.endpoint, api_key=key or settings.api_key)
        )
        twin.__dict__["store"] = self.store
        yield twin.judges

    @contextmanager
    def _pricing(self) -> Iterator[RankingService]:
        from arena.services.rounds.planning import RoundPlanner

        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            twin = Arena(replace(self.settings, home=home, database_url=f"sqlite:///{home / DATABASE}"))
            try:
                twin.__dict__["planner"] = RoundPlanner(
                    twin.store,
                    load_spec=twin.judges.spec,
                    load_prices=self.judges.prices,
                    cache_mode=self.settings.cache_mode,
                    has_key=self.settings.has_key,
                    replies=self.store.replies,
                )
                yield twin.ranking
            finally:
                twin.close()

    @cached_property
    def corpora(self) -> CorpusService:
        from arena.services.retrieval import CorpusService
        from data.corpora.index import CorpusLibrary
        from judges.text.tokens import TERMS

        library = CorpusLibrary(self.settings.home / "corpora", TERMS)
        return CorpusService(library, self.settings)

    def reaching(self, overrides: LlmOverrides) -> Arena:
        """Return this arena with overridden LLM access; it is closed with this arena."""
        settings = overrides.over(self.settings)
        if settings == self.settings:
            return self
        twin = Arena(settings)
        twin.__dict__["store"] = self.store
        return twin

    def close(self) -> None:
        """Close the store if it is open."""
        if "store" in self.__dict__:
            self.store.close()


def open_arena(settings: Settings | None = None) -> Arena:
    """Wire the application."""
    settings = settings or read_settings()
    if settings.log_level is not None:
        from arena.logs import configure_logs

        configure_logs(settings)
    return Arena(settings)


def open_ranking(folder: Path) -> Arena:
    """Wire the application over the arena in a ranking's folder."""
    return open_arena(replace(settings_in(folder), own_texts=True))
