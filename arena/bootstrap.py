"""The one place where things are wired: settings and store in, services out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from arena.reaching import Reaching
from arena.settings import Settings, read_settings
from arena.store_services import StoreServices

if TYPE_CHECKING:
    # Each is imported when first used, so that `arena --help` stays quick.
    from arena.services.boards import BoardService
    from arena.services.calibration import CalibrationService
    from arena.services.calibration_desk import CalibrationDesk
    from arena.services.controlled_sets import ControlledSetService
    from arena.services.corpora import CorpusService
    from arena.services.demo import DemoService
    from arena.services.generation import GenerationService
    from arena.services.jobs import JobService
    from arena.services.judges import JudgeService
    from arena.services.metric_access import MetricAccess
    from arena.services.metric_agreement import AgreementService
    from arena.services.metrics import MetricService
    from arena.services.planner import RoundPlanner
    from arena.services.reports import ReportService
    from arena.services.rereading import RereadingService
    from arena.services.round_desk import RoundDesk
    from arena.services.rounds import RoundService
    from arena.services.seating import Seating
    from arena.services.sessions import SessionService
    from arena.services.set_desk import SetDesk
    from arena.services.submissions import SubmissionService
    from arena.services.trials import TrialService
    from arena.services.uploads import UploadService
    from data.store import Store


class Arena(StoreServices):
    """Every use case of the application, over one store; those that need no more stand in the parent."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def store(self) -> Store:
        """The store, opened when first asked for.

        Raises:
            StoreError: The database cannot be used.
        """
        from data.store import Store

        return Store.open(self.settings.database_url)

    @cached_property
    def set_desk(self) -> SetDesk:
        """Question sets as organisers handle them."""
        from arena.services.set_desk import SetDesk

        return SetDesk(self.store, self.sets, self.policies)

    @cached_property
    def submissions(self) -> SubmissionService:
        """Submissions."""
        from arena.services.submissions import SubmissionService
        from data.files import MEBIBYTE
        from submissions.limits import IntakeLimits

        limits = IntakeLimits(
            file_bytes=self.settings.max_upload_mb * MEBIBYTE, answer_chars=self.settings.max_answer_chars
        )
        return SubmissionService(self.store, self.teams, limits=limits)

    @cached_property
    def sessions(self) -> SessionService:
        """Browsers that are signed in."""
        from arena.services.sessions import SessionService

        return SessionService(self.store, self.identities)

    @cached_property
    def uploads(self) -> UploadService:
        """Files of answers on their way in."""
        from arena.services.uploads import UploadService
        from data.files import MEBIBYTE

        return UploadService(
            self.settings.uploads_folder,
            most_bytes=self.settings.max_upload_mb * MEBIBYTE,
            per_owner=self.settings.uploads,
            hours=self.settings.upload_hours,
        )

    @cached_property
    def judges(self) -> JudgeService:
        """Judges."""
        from arena.services.judges import JudgeService

        return JudgeService(self.store, self.settings)

    @cached_property
    def planner(self) -> RoundPlanner:
        """Rounds before they are stored."""
        from arena.services.planner import RoundPlanner

        return RoundPlanner(self.store, load_spec=self.judges.spec, load_prices=self.judges.prices)

    @cached_property
    def rounds(self) -> RoundService:
        """Rounds."""
        from arena.services.judging import RoundRunner
        from arena.services.rounds import RoundService

        return RoundService(
            self.store,
            self.planner,
            load_spec=self.judges.spec,
            runner=RoundRunner(self.store, self.seating, self.judges.open),
        )

    @cached_property
    def jobs(self) -> JobService:
        """Jobs for workers."""
        from arena.services.jobs import JobService

        return JobService(self.store, self.seating)

    @cached_property
    def seating(self) -> Seating:
        """This process's dealings with the queue of jobs."""
        from arena.identity import this_worker
        from arena.services.seating import Seating

        return Seating(self.store, this_worker(), self.settings.lease)

    @cached_property
    def trials(self) -> TrialService:
        """Dry samples of rounds."""
        from arena.services.trials import TrialService

        return TrialService(self.store, self.planner, self.judges)

    @cached_property
    def desk(self) -> RoundDesk:
        """Rounds as organisers watch them."""
        from arena.services.round_desk import RoundDesk

        return RoundDesk(self)

    @cached_property
    def generation(self) -> GenerationService:
        """Generated answers."""
        from arena.services.generation import GenerationService

        return GenerationService(self.store, self.settings)

    @cached_property
    def rereading(self) -> RereadingService:
        """Stored replies, read again."""
        from arena.services.rereading import RereadingService

        return RereadingService(self.store, round_spec=self.rounds.spec_of)

    @cached_property
    def calibration(self) -> CalibrationService:
        """Judges against people."""
        from arena.services.calibration import CalibrationService

        return CalibrationService(self.judges)

    @cached_property
    def calibration_desk(self) -> CalibrationDesk:
        """Calibrations as organisers start and read them."""
        from arena.services.calibration_desk import CalibrationDesk

        return CalibrationDesk(self.jobs, self.judges)

    @cached_property
    def metric_access(self) -> MetricAccess:
        """What opens metrics."""
        from arena.services.metric_access import MetricAccess

        return MetricAccess(self.store, self.settings, self.judges.spec, self.corpora.source)

    @cached_property
    def metrics(self) -> MetricService:
        """Scores of answers."""
        from arena.services.metrics import MetricService

        return MetricService(self.store, self.metric_access, processes=self.settings.processes)

    @cached_property
    def agreement(self) -> AgreementService:
        """How metrics agree with people and with each other."""
        from arena.services.metric_agreement import AgreementService

        return AgreementService(self.store, self.metric_access)

    @cached_property
    def controlled_sets(self) -> ControlledSetService:
        """Sets built from summaries."""
        from arena.services.controlled_sets import ControlledSetService

        return ControlledSetService(self.metric_access)

    @cached_property
    def boards(self) -> BoardService:
        """Standings and published boards."""
        from arena.services.boards import BoardService

        return BoardService(self.store, score_set=self.metrics.score_board, agreement=self.agreement.of_board)

    @cached_property
    def reports(self) -> ReportService:
        """Reports to teams."""
        from arena.services.reports import ReportService

        return ReportService(self.store, self.profiles, self.weaknesses)

    @cached_property
    def corpora(self) -> CorpusService:
        """Corpora, in the home folder."""
        from arena.services.corpora import CorpusService
        from data.corpora.library import CorpusLibrary
        from judges.coverage.sources import TERMS

        library = CorpusLibrary(self.settings.home / "corpora", TERMS)
        return CorpusService(library, self.store, self.settings)

    @cached_property
    def demo(self) -> DemoService:
        """The bundled sets, judged and published."""
        from arena.services.demo import DemoService

        return DemoService(self)

    def reaching(self, wanted: Reaching) -> Arena:
        """The same arena with LLMs reached as wanted; closed with this one."""
        settings = wanted.over(self.settings)
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
    return Arena(settings or read_settings())
