"""The one place where things are wired: settings and store in, services out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from arena.settings import Settings, read_settings

if TYPE_CHECKING:
    # Each is imported when first used, so that `arena --help` stays quick.
    from arena.services.boards import BoardService
    from arena.services.calibration import CalibrationService
    from arena.services.demo import DemoService
    from arena.services.evidence import EvidenceService
    from arena.services.generation import GenerationService
    from arena.services.judges import JudgeService
    from arena.services.metrics import MetricService
    from arena.services.profiles import ProfileService
    from arena.services.rereading import RereadingService
    from arena.services.round_tables import RoundTableService
    from arena.services.rounds import RoundService
    from arena.services.sets import SetService
    from arena.services.submissions import SubmissionService
    from arena.services.weaknesses import WeaknessService
    from data.corpora.library import CorpusLibrary
    from data.store import Store


class Arena:
    """Every use case of the application, over one store."""

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
    def sets(self) -> SetService:
        """Question sets."""
        from arena.services.sets import SetService

        return SetService(self.store)

    @cached_property
    def submissions(self) -> SubmissionService:
        """Submissions."""
        from arena.services.submissions import SubmissionService

        return SubmissionService(self.store, max_upload_mb=self.settings.max_upload_mb)

    @cached_property
    def judges(self) -> JudgeService:
        """Judges."""
        from arena.services.judges import JudgeService

        return JudgeService(self.store, self.settings)

    @cached_property
    def rounds(self) -> RoundService:
        """Rounds."""
        from arena.services.rounds import RoundService

        return RoundService(
            self.store,
            load_spec=self.judges.spec,
            load_prices=self.judges.prices,
            open_judge=self.judges.open,
        )

    @cached_property
    def generation(self) -> GenerationService:
        """Generated answers."""
        from arena.services.generation import GenerationService

        return GenerationService(self.store, self.settings)

    @cached_property
    def tables(self) -> RoundTableService:
        """Tables of stored rounds."""
        from arena.services.round_tables import RoundTableService

        return RoundTableService(self.store)

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
    def metrics(self) -> MetricService:
        """Scores of answers."""
        from arena.services.metric_access import MetricAccess
        from arena.services.metrics import MetricService

        access = MetricAccess(self.store, self.settings, self.judges.spec)
        return MetricService(self.store, access)

    @cached_property
    def boards(self) -> BoardService:
        """Standings and published boards."""
        from arena.services.boards import BoardService

        return BoardService(self.store, score_set=self.metrics.score_board)

    @cached_property
    def evidence(self) -> EvidenceService:
        """What stands behind the numbers."""
        from arena.services.evidence import EvidenceService

        return EvidenceService(self.store)

    @cached_property
    def profiles(self) -> ProfileService:
        """How a system fared, question by question."""
        from arena.services.profiles import ProfileService

        return ProfileService(self.store)

    @cached_property
    def weaknesses(self) -> WeaknessService:
        """What a system's answers lack."""
        from arena.services.weaknesses import WeaknessService

        return WeaknessService(self.store)

    @cached_property
    def corpora(self) -> CorpusLibrary:
        """Corpora, in the home folder."""
        from data.corpora.library import CorpusLibrary
        from judges.coverage.sources import TERMS

        return CorpusLibrary(self.settings.home / "corpora", TERMS)

    @cached_property
    def demo(self) -> DemoService:
        """The bundled sets, judged and published."""
        from arena.services.demo import DemoService

        return DemoService(self)

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
