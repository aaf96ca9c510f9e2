"""The services that need nothing but the store, each made when first asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Each is imported when first used, so that `arena --help` stays quick.
    from arena.services.annotation import AnnotationDesk
    from arena.services.battle_pages import BattlePages
    from arena.services.comparisons import ComparisonService
    from arena.services.evidence import EvidenceService
    from arena.services.history import HistoryService
    from arena.services.identity import IdentityService
    from arena.services.judgment_reports import JudgmentReportService
    from arena.services.notices import NoticeService
    from arena.services.policies import PolicyService
    from arena.services.profiles import ProfileService
    from arena.services.question_lists import QuestionListService
    from arena.services.round_tables import RoundTableService
    from arena.services.sets import SetService
    from arena.services.teams import TeamService
    from arena.services.tokens import TokenService
    from arena.services.weaknesses import WeaknessService
    from data.store import Store


class StoreServices(ABC):
    """Use cases over a store, and over nothing else."""

    @property
    @abstractmethod
    def store(self) -> Store:
        """The store that they share."""

    @cached_property
    def sets(self) -> SetService:
        """Question sets."""
        from arena.services.sets import SetService

        return SetService(self.store)

    @cached_property
    def identities(self) -> IdentityService:
        """Who asks."""
        from arena.services.identity import IdentityService

        return IdentityService(self.store)

    @cached_property
    def teams(self) -> TeamService:
        """Teams, accounts and the audit log."""
        from arena.services.teams import TeamService

        return TeamService(self.store)

    @cached_property
    def tokens(self) -> TokenService:
        """Access tokens."""
        from arena.services.tokens import TokenService

        return TokenService(self.store)

    @cached_property
    def policies(self) -> PolicyService:
        """Phases, deadlines and quotas of sets."""
        from arena.services.policies import PolicyService

        return PolicyService(self.store)

    @cached_property
    def battle_pages(self) -> BattlePages:
        """Battles, a page at a time."""
        from arena.services.battle_pages import BattlePages

        return BattlePages(self.store)

    @cached_property
    def annotation_desk(self) -> AnnotationDesk:
        """Pairs that people label."""
        from arena.services.annotation import AnnotationDesk

        return AnnotationDesk(self.store)

    @cached_property
    def tables(self) -> RoundTableService:
        """Tables of stored rounds."""
        from arena.services.round_tables import RoundTableService

        return RoundTableService(self.store)

    @cached_property
    def notices(self) -> NoticeService:
        """Errata on published boards."""
        from arena.services.notices import NoticeService

        return NoticeService(self.store)

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
    def comparisons(self) -> ComparisonService:
        """Systems against each other."""
        from arena.services.comparisons import ComparisonService

        return ComparisonService(self.store)

    @cached_property
    def question_lists(self) -> QuestionListService:
        """Questions of a round, found by what came of them."""
        from arena.services.question_lists import QuestionListService

        return QuestionListService(self.store)

    @cached_property
    def judgment_reports(self) -> JudgmentReportService:
        """Readers' reports of judgments."""
        from arena.services.judgment_reports import JudgmentReportService

        return JudgmentReportService(self.store)

    @cached_property
    def history(self) -> HistoryService:
        """Boards over time."""
        from arena.services.history import HistoryService

        return HistoryService(self.store)
