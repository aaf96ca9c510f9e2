"""The one place where things are wired: settings and store in, services out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.services.judging.llm_overrides import LlmOverrides
from arena.settings import DATABASE, Settings, read_settings, settings_in
from data.plugins import use_plugin_files
from judges.llm.transports.registry import transport_info

if TYPE_CHECKING:
    # Each is imported when first used, so that `arena --help` stays quick.
    from arena.demo import DemoService
    from arena.services.accounts.auth import IdentityService
    from arena.services.accounts.invitations import InvitationService
    from arena.services.accounts.sessions import SessionService
    from arena.services.accounts.teams import TeamService
    from arena.services.accounts.tokens import TokenService
    from arena.services.boards.comparison import RoundComparisonService
    from arena.services.boards.files import BoardFiles
    from arena.services.boards.history import HistoryService
    from arena.services.boards.service import BoardService
    from arena.services.contexts.controlled_sets import ControlledSetService
    from arena.services.contexts.service import ContextService
    from arena.services.evidence.question_lists import QuestionListService
    from arena.services.evidence.questions import EvidenceService
    from arena.services.evidence.systems import ComparisonService, ProfileService
    from arena.services.evidence.weaknesses import WeaknessService
    from arena.services.jobs.engine import Engine
    from arena.services.jobs.job_leases import JobLeases
    from arena.services.judging.calibration import CalibrationAdmin, CalibrationService
    from arena.services.judging.judge_test import JudgeTester
    from arena.services.judging.judges import JudgeService
    from arena.services.labels import LabelService
    from arena.services.metrics.factory import MetricAccess
    from arena.services.metrics.planning import MetricPlanner
    from arena.services.metrics.results import ScoreTableService
    from arena.services.metrics.service import MetricService
    from arena.services.notifications import Notifier
    from arena.services.organisers.inbox import InboxService
    from arena.services.organisers.monitor import RoundAdmin
    from arena.services.organisers.round_jobs import RoundJobs
    from arena.services.question_sets.passages import SetPassages
    from arena.services.question_sets.phases import PolicyService
    from arena.services.question_sets.service import SetAdmin, SetService
    from arena.services.question_sets.statistics import StatisticsService
    from arena.services.ranking.new_boards import NewBoards
    from arena.services.ranking.results import RankingResults
    from arena.services.ranking.service import RankingService
    from arena.services.retrieval.corpora import CorpusService
    from arena.services.retrieval.passages import RetrievalService
    from arena.services.rounds.corrections import CorrectionService
    from arena.services.rounds.planning import RoundPlanner
    from arena.services.rounds.service import RoundService
    from arena.services.rounds.visibility import BattlePages, RoundReader
    from arena.services.submissions.service import SubmissionService
    from arena.services.submissions.uploads import UploadService
    from arena.services.submissions.views import SubmissionReader
    from data.store import Store


class _Service:
    """An attribute that is made when first asked for, of the class that its annotation names.

    Args:
        module: Where the class is, below `arena`; imported only then, so that `arena --help` stays quick.
        needs: Attributes of the application that the class takes, in order; `settings.lease` is one of those.
        named: Those that it takes by name.
    """

    def __init__(self, module: str, needs: Sequence[str], named: Mapping[str, str]) -> None:
        self._module = f"{__package__}.{module}"
        self.needs, self.named = needs, named

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._class = name, owner.__annotations__[name]

    def __get__(self, arena: Arena | None, _owner: type) -> object:
        if arena is None:
            return self
        make = getattr(import_module(self._module), self._class)
        # Found there from now on, before this descriptor.
        named = {name: attrgetter(need)(arena) for name, need in self.named.items()}
        made = make(*(attrgetter(need)(arena) for need in self.needs), **named)
        return arena.__dict__.setdefault(self._name, made)


def _service(module: str, *needs: str, **named: str) -> Any:  # noqa: ANN401 - the attribute's annotation says what
    return _Service(module, needs or ("store",), named)


class Arena:
    """Every use case of the application, over one store."""

    sets: SetService = _service("services.question_sets.service")
    set_admin: SetAdmin = _service("services.question_sets.service", "store", "sets", "policies")
    policies: PolicyService = _service("services.question_sets.phases")
    retrieval: RetrievalService = _service("services.retrieval.passages", "corpora", "store")
    contexts: ContextService = _service("services.contexts.service", "store", "corpora", "metrics")
    set_statistics: StatisticsService = _service("services.question_sets.statistics")
    set_passages: SetPassages = _service("services.question_sets.passages", "store", "corpora")
    uploads: UploadService = _service(
        "services.submissions.uploads",
        "settings.uploads_folder",
        most_bytes="settings.upload_bytes",
    )
    identities: IdentityService = _service("services.accounts.auth")
    sessions: SessionService = _service(
        "services.accounts.sessions", "store", "identities", owned="settings.sole_owner"
    )
    teams: TeamService = _service("services.accounts.teams")
    tokens: TokenService = _service("services.accounts.tokens")
    invitations: InvitationService = _service(
        "services.accounts.invitations", "store", "tokens", public_url="settings.public_url"
    )
    judges: JudgeService = _service("services.judging.judges", "store", "settings")
    judge_tester: JudgeTester = _service("services.judging.judge_test", "judges")
    calibration: CalibrationService = _service("services.judging.calibration", "judges")
    calibrations: CalibrationAdmin = _service("services.judging.calibration", "jobs", "judges")
    notifier: Notifier = _service(
        "services.notifications", address="settings.notify", public_url="settings.public_url"
    )
    labels: LabelService = _service("services.labels")
    jobs: RoundJobs = _service("services.organisers.round_jobs", "store", "job_leases")
    inbox: InboxService = _service("services.organisers.inbox")
    round_admin: RoundAdmin = _service(
        "services.organisers.monitor",
        *("store", "rounds", "planner", "jobs", "boards"),
    )
    comparison: RoundComparisonService = _service("services.boards.comparison")
    round_reader: RoundReader = _service("services.rounds.visibility")
    submission_reader: SubmissionReader = _service("services.submissions.views")
    battle_pages: BattlePages = _service("services.rounds.visibility")
    score_tables: ScoreTableService = _service("services.metrics.results")
    controlled_sets: ControlledSetService = _service("services.contexts.controlled_sets", "metric_access")
    board_files: BoardFiles = _service("services.boards.files", "store", "boards")
    history: HistoryService = _service("services.boards.history")
    evidence: EvidenceService = _service("services.evidence.questions")
    question_lists: QuestionListService = _service("services.evidence.question_lists")
    profiles: ProfileService = _service("services.evidence.systems")
    comparisons: ComparisonService = _service("services.evidence.systems")
    weaknesses: WeaknessService = _service("services.evidence.weaknesses")
    corrections: CorrectionService = _service("services.rounds.corrections", "store")
    ranking_results: RankingResults = _service("services.ranking.results")
    demo: DemoService = _service("demo", "sets", "submissions", "rounds", "boards", "calibration")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        use_plugin_files(settings.plugins)
        transport_info(settings.transport)

    @cached_property
    def store(self) -> Store:
        """The store, opened when first asked for.

        Raises:
            StoreError: The database cannot be used.
        """
        from data.store import Store

        return Store.open(self.settings.database_url)

    @cached_property
    def engine(self) -> Engine:
        """Where long work is done, as the settings say.

        An engine opens applications itself, so that it is imported where it is asked for, by name.
        """
        engine: Engine = import_module(f".workers.{self.settings.engine}", __package__).open_engine(self)
        return engine

    @cached_property
    def submissions(self) -> SubmissionService:
        """Submissions."""
        from arena.services.submissions.file_checks import FileChecks
        from arena.services.submissions.service import SubmissionService
        from submissions.limits import IntakeLimits

        limits = IntakeLimits(
            file_bytes=self.settings.upload_bytes, answer_chars=self.settings.max_answer_chars
        )
        checks = FileChecks(self.settings.work_seconds)
        return SubmissionService(self.store, self.teams, self.notifier, limits=limits, checks=checks)

    @cached_property
    def planner(self) -> RoundPlanner:
        """Rounds before they are stored."""
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
        """Rounds."""
        from arena.services.rounds.runner import RoundRunner
        from arena.services.rounds.service import RoundService

        return RoundService(
            self.store,
            self.planner,
            load_spec=self.judges.spec,
            runner=RoundRunner(self.store, self.job_leases, self.judges.open),
            notifier=self.notifier,
        )

    @cached_property
    def job_leases(self) -> JobLeases:
        """This process's dealings with the queue of jobs."""
        from arena.services.jobs.job_leases import JobLeases, this_worker

        return JobLeases(self.store, this_worker(), self.settings.lease)

    @cached_property
    def metric_access(self) -> MetricAccess:
        """What opens metrics."""
        from arena.services.metrics.factory import MetricAccess

        return MetricAccess(self.store, self.settings, self.judges.spec, self.corpora.source)

    @cached_property
    def metrics(self) -> MetricService:
        """Metrics over stored answers."""
        from arena.services.metrics.service import MetricService

        return MetricService(self.store, self.metric_access, self.settings)

    @cached_property
    def metric_plans(self) -> MetricPlanner:
        """What scoring will take."""
        from arena.services.metrics.planning import MetricPlanner

        return MetricPlanner(self.store, self.metric_access, self.judges.prices)

    @cached_property
    def boards(self) -> BoardService:
        """Standings and published boards."""
        from arena.services.boards.service import BoardService

        # Metrics load when a board is made, not when boards are listed.
        return BoardService(
            self.store,
            score=lambda *scored: self.metrics.score_board(*scored),  # noqa: PLW0108 - see above
        )

    @cached_property
    def ranking(self) -> RankingService:
        """Files of answers ranked, in an arena of their own."""
        from arena.services.ranking.judges import RankingJudges
        from arena.services.ranking.service import RankingService

        return RankingService(
            self.store,
            self.sets,
            self.submissions,
            self.rounds,
            self.planner,
            self.boards,
            judges=RankingJudges(self.judges, self.settings.judges_folder),
            title=self.settings.home.name or "ranking",
        )

    @cached_property
    def new_boards(self) -> NewBoards:
        """Boards of files that are dropped on a page."""
        from arena.services.ranking.new_boards import NewBoards

        return NewBoards(
            self.ranking, self.rounds, self.jobs, self.settings, pricing=self._pricing, testing=self._testing
        )

    @contextmanager
    def _testing(self, endpoint: str, key: str) -> Iterator[JudgeTester]:
        """What tries judges at another address or with another key, which are forgotten afterwards."""
        settings = self.settings
        twin = Arena(
            replace(
                settings,
                endpoint=endpoint or settings.endpoint,
                api_key=key or settings.api_key,
            )
        )
        twin.__dict__["store"] = self.store
        yield twin.judge_tester

    @contextmanager
    def _pricing(self) -> Iterator[RankingService]:
        """An empty ranking that is gone afterwards, and knows the replies and prices of this arena."""
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
        """Corpora, in the home folder."""
        from arena.services.retrieval.corpora import CorpusService
        from data.corpora.index import CorpusLibrary
        from judges.text.tokens import TERMS

        library = CorpusLibrary(self.settings.home / "corpora", TERMS)
        return CorpusService(library, self.settings)

    def reaching(self, overrides: LlmOverrides) -> Arena:
        """The same arena with LLMs reached as wanted; closed with this one."""
        settings = overrides.over(self.settings)
        if settings == self.settings:
            return self
        twin = Arena(settings)
        twin.__dict__["store"] = self.store
        return twin

    def close(self) -> None:
        """Give back what was opened."""
        if "store" in self.__dict__:
            self.store.close()


def open_arena(settings: Settings | None = None) -> Arena:
    """Wire the application.

    Args:
        settings: Where the state lives; by default as the environment says.
    """
    settings = settings or read_settings()
    if settings.log_level is not None:
        from arena.logs import configure_logs

        configure_logs(settings)
    return Arena(settings)


def open_ranking(folder: Path) -> Arena:
    """Wire the application over the arena that a ranking has in its folder."""
    return open_arena(settings_in(folder))
