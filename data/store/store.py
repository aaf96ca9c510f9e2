"""The store as one value: what is kept, by kind."""

from __future__ import annotations

from data.errors import StoreError
from data.store.accounts.accounts import TeamStore
from data.store.accounts.audit import AuditStore
from data.store.accounts.tokens import TokenStore
from data.store.annotation.frames import FrameStore
from data.store.annotation.labels import LabelStore
from data.store.annotation.queue import LabelQueueStore
from data.store.annotation.references import ReferenceStore
from data.store.annotation.tasks import AnnotationStore
from data.store.boards.boards import BoardStore
from data.store.boards.judgment_flags import ReportStore
from data.store.boards.scores import EstimateStore, ScoreStore
from data.store.engine import Database
from data.store.jobs.jobs import JobStore
from data.store.jobs.leases import LeaseStore
from data.store.monitoring import CountingStore
from data.store.public_votes import PublicVoteStore
from data.store.question_sets import PolicyStore, SetStore
from data.store.retrieval import RetrievalStore
from data.store.rounds.battle_claims import ClaimStore
from data.store.rounds.battles import BattleStore
from data.store.rounds.budgets import LedgerStore, RetestLedgerStore
from data.store.rounds.canaries import CanaryStore
from data.store.rounds.cascades import MemberStore
from data.store.rounds.question_stats import QuestionStatsStore
from data.store.rounds.replies import BatchStore, ReplyStore
from data.store.rounds.retests import ControlStore, RetestStore
from data.store.rounds.rounds import RoundStore
from data.store.rounds.verdicts import VerdictStore
from data.store.rounds.waves import WaveStore
from data.store.submissions.submission_status import StatusStore
from data.store.submissions.submissions import SubmissionStore


class Store:
    """Everything that is kept, over one database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sets = SetStore(database)
        self.submissions = SubmissionStore(database)
        self.statuses = StatusStore(database)
        self.retrieval = RetrievalStore(database)
        self.rounds = RoundStore(database)
        self.battles = BattleStore(database)
        self.verdicts = VerdictStore(database)
        self.canaries = CanaryStore(database)
        self.waves = WaveStore(database)
        self.retests = RetestStore(database)
        self.controls = ControlStore(database)
        self.batches = BatchStore(database)
        self.replies = ReplyStore(database)
        self.ledgers = LedgerStore(database)
        self.retest_ledgers = RetestLedgerStore(database)
        self.counting = CountingStore(database)
        self.jobs = JobStore(database)
        self.leases = LeaseStore(database)
        self.holds = ClaimStore(database)
        self.scores = ScoreStore(database)
        self.estimates = EstimateStore(database)
        self.boards = BoardStore(database)
        self.members = MemberStore(database)
        self.question_stats = QuestionStatsStore(database)
        self.reports = ReportStore(database)
        self.teams = TeamStore(database)
        self.tokens = TokenStore(database)
        self.policies = PolicyStore(database)
        self.annotations = AnnotationStore(database)
        self.public_votes = PublicVoteStore(database)
        self.label_queue = LabelQueueStore(database)
        self.labels = LabelStore(database)
        self.references = ReferenceStore(database)
        self.frames = FrameStore(database)
        self.audit = AuditStore(database)

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a store; an empty database gets the newest schema, an SQLite one is brought up to it.

        Raises:
            StoreError: The database cannot be used, or is a server whose schema is old.
        """
        database = Database(url)
        if not database.is_current():
            if database.version() is not None and not database.is_sqlite:
                raise StoreError(
                    f"The schema of {database.place} is of another version than this program.",
                    advice="Run `arena db upgrade`.",
                )
            database.upgrade()
        return cls(database)

    def close(self) -> None:
        """Give back every connection."""
        self.database.close()
