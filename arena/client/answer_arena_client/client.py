"""The client: sets, submissions, boards, rounds and retrieval of one arena."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Literal, Self, Unpack

import httpx

from .models.results import (
    Battle,
    Board,
    BoardHead,
    Comparison,
    QuestionEvidence,
    Round,
    RoundQuestion,
    ScoredMetric,
    ScoreTable,
)
from .models.retrieval import Qrels, QuestionRankings, RetrievalBoard, RetrievalDifference
from .models.sets import Question, QuestionSet, SetStatistics, VoteBoard
from .models.submissions import Identity
from .submissions import Submissions
from .transport import TIMEOUT, Params, RequestOptions, Retries, Transport, path_of

TableFormat = Literal["csv", "parquet"]
BoardFormat = Literal["csv", "parquet", "latex", "markdown", "every-eval-ever", "croissant"]
ScoreFormat = Literal["json", "csv", "parquet", "trec"]
By = Literal["system", "domain", "question"]
QuestionOrder = Literal["set", "disagreement", "closest", "clearest", "spread", "flips"]
PAGE = 100


class Client:
    """Asks one arena; close it, or use it as a context manager.

    Without a token only what is public can be asked. Requests that an arena refuses for now are sent again
    when it says, see `Retries`.

    Attributes:
        sets: Question sets and their questions.
        submissions: Files of answers: check, submit, wait, report.
        boards: Published boards.
        rounds: Published rounds, their battles and evidence.
        metrics: Scores of answers by metrics.
        retrieval: Boards of contexts without answers.

    Args:
        server: Address of the arena, `https://arena.example.org`.
        token: `aa_…`, of your team's page.
        timeout: Seconds, or as httpx has it.
        retries: How often and how patiently requests are sent again.
        sleep: How waiting is done.
        transport: Another way to the arena, as httpx has it.

    Raises:
        UsageError: The address or the token cannot be one.
    """

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        timeout: httpx.Timeout | float = TIMEOUT,
        retries: Retries | None = None,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._transport = Transport(
            server, token, timeout=timeout, retries=retries, sleep=sleep, transport=transport
        )
        self.sets = Sets(self._transport)
        self.submissions = Submissions(self._transport)
        self.boards = Boards(self._transport)
        self.rounds = Rounds(self._transport)
        self.metrics = Metrics(self._transport)
        self.retrieval = Retrieval(self._transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """The address, never the token."""
        return f"Client({self._transport.address!r})"

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def me(self) -> Identity:
        """Who the token stands for.

        Raises:
            AuthenticationError: There is none, or it is not valid.
        """
        return self._transport.read(Identity, "/me")

    def request(self, method: str, path: str, **options: Unpack[RequestOptions]) -> httpx.Response:
        """Send any request below `/api/v1`, for routes that have no method here.

        Raises:
            RequestError: No answer came.
            StatusError: The arena refuses.
        """
        return self._transport.request(method, path, **options)


class Sets:
    """Question sets of an arena."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def all(self) -> list[QuestionSet]:
        """Every question set."""
        return self._transport.read(list[QuestionSet], "/sets", key="sets")

    def get(self, name: str) -> QuestionSet:
        """One of them."""
        return self._transport.read(QuestionSet, path_of("sets", name))

    def questions(self, name: str, *, page: int = PAGE) -> Iterator[Question]:
        """Its questions, never a reference; `page` are asked for at once."""
        return self._transport.pages(Question, path_of("sets", name, "questions"), "questions", page=page)

    def statistics(self, name: str) -> list[SetStatistics]:
        """Words, documents, passages and short answers, overall and by domain."""
        return self._transport.read(list[SetStatistics], path_of("sets", name, "statistics"), key="domains")

    def template(self, name: str) -> str:
        """A file of answers to fill in, as JSON Lines."""
        return self._transport.request("GET", path_of("sets", name, "template")).text

    def sample(self, name: str) -> str:
        """A small file that would be accepted, as JSON Lines."""
        return self._transport.request("GET", path_of("sets", name, "sample")).text

    def votes(self, name: str) -> VoteBoard:
        """The board of its public votes, and what counts of them."""
        return self._transport.read(VoteBoard, path_of("sets", name, "votes"))


class Boards:
    """Published boards of an arena."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def all(self) -> list[BoardHead]:
        """The published boards, the newest first."""
        return self._transport.read(list[BoardHead], "/leaderboards", key="leaderboards")

    def get(self, name: str) -> Board:
        """A board with its standings; `NAME@HASH` is one snapshot of it.

        Raises:
            RetractedError: It was retracted; the notice says why.
        """
        return self._transport.read(Board, path_of("leaderboards", name))

    def snapshots(self, name: str) -> list[BoardHead]:
        """Every snapshot of a board, the one that stands first."""
        path = path_of("leaderboards", name, "snapshots")
        return self._transport.read(list[BoardHead], path, key="leaderboards")

    def table(self, name: str, board_format: BoardFormat = "csv") -> bytes:
        """A board as a file: a line for each system in each domain, or what else the format has."""
        path = path_of("leaderboards", name)
        return self._transport.request("GET", path, params={"format": board_format}).content


class Rounds:
    """Rounds of an arena: published ones, and every one for organisers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def all(self) -> list[Round]:
        """Rounds with their state and counts, the newest first."""
        return self._transport.read(list[Round], "/rounds", key="rounds")

    def get(self, name: str) -> Round:
        """One of them."""
        return self._transport.read(Round, path_of("rounds", name))

    def battles(self, name: str, *, page: int = PAGE) -> Iterator[Battle]:
        """Its battles with their verdicts; `page` are asked for at once."""
        return self._transport.pages(Battle, path_of("rounds", name, "battles"), "battles", page=page)

    def questions(
        self,
        name: str,
        *,
        words: str = "",
        domain: str | None = None,
        search: str = "",
        winner: str | None = None,
        sort: QuestionOrder = "set",
        page: int = PAGE,
    ) -> Iterator[RoundQuestion]:
        """Its questions that have every one of some words, and how their battles ended.

        `search` are words and "phrases" that the question, the reference or an answer must all have; each
        question says then where it was `found`.
        """
        asked = {"words": words, "domain": domain, "q": search, "winner": winner, "sort": sort}
        path = path_of("rounds", name, "questions")
        return self._transport.pages(RoundQuestion, path, "questions", params=asked, page=page)

    def evidence(self, name: str, question_id: str) -> QuestionEvidence:
        """A question with its answers and their scores, its battles and their judgments."""
        return self._transport.read(QuestionEvidence, path_of("rounds", name, "questions", question_id))

    def compare(self, name: str, first: str, second: str) -> Comparison:
        """How much more of the win one system takes than another, by domain, and where they differ most."""
        asked = {"first": first, "second": second}
        return self._transport.read(Comparison, path_of("rounds", name, "compare"), params=asked)


class Metrics:
    """Scores of answers by metrics, as far as the answers are seen."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def all(self, set_name: str) -> list[ScoredMetric]:
        """The metrics that answers to a set have scores by, and whose."""
        return self._transport.read(list[ScoredMetric], path_of("sets", set_name, "metrics"), key="metrics")

    def table(
        self, set_name: str, metric: str, *, by: By = "system", judge: str = "", systems: Sequence[str] = ()
    ) -> ScoreTable:
        """Means over answers with standard deviations and 95 % intervals over questions."""
        asked = {"by": by, "judge": judge, "systems": ",".join(systems)}
        return self._transport.read(ScoreTable, path_of("sets", set_name, "metrics", metric), params=asked)

    def export(
        self,
        set_name: str,
        metric: str,
        score_format: ScoreFormat = "csv",
        *,
        judge: str = "",
        systems: Sequence[str] = (),
    ) -> bytes:
        """A row an answer as a file; `trec` takes one system."""
        asked = {"format": score_format, "judge": judge, "systems": ",".join(systems)}
        path = path_of("sets", set_name, "metrics", metric, "scores")
        return self._transport.request("GET", path, params=asked).content


class Retrieval:
    """Boards of contexts without answers, and relevance judgments."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def qrels(self, set_name: str) -> list[Qrels]:
        """The relevance judgments of a set."""
        return self._transport.read(list[Qrels], path_of("sets", set_name, "qrels"), key="qrels")

    def board(self, set_name: str, *, qrels: str = "") -> RetrievalBoard:
        """The board of the systems that submitted contexts to a set."""
        path = path_of("sets", set_name, "retrieval")
        return self._transport.read(RetrievalBoard, path, params={"qrels": qrels})

    def table(
        self,
        set_name: str,
        table_format: TableFormat = "csv",
        *,
        qrels: str = "",
        by_question: bool = False,
    ) -> bytes:
        """The board as a file; with `by_question` a row for each question and system."""
        asked: Params = {"format": table_format, "qrels": qrels, "questions": by_question}
        return self._transport.request("GET", path_of("sets", set_name, "retrieval"), params=asked).content

    def trec(self, set_name: str, system: str, *, qrels: str = "") -> str:
        """What `trec_eval -q -c` prints of one system."""
        asked = {"format": "trec", "system": system, "qrels": qrels}
        return self._transport.request("GET", path_of("sets", set_name, "retrieval"), params=asked).text

    def compare(
        self, set_name: str, first: str, second: str, *, measure: str = "nDCG@10", qrels: str = ""
    ) -> list[RetrievalDifference]:
        """How much higher one system scores than another on the same questions, by domain."""
        asked = {"first": first, "second": second, "measure": measure, "qrels": qrels}
        path = path_of("sets", set_name, "retrieval", "compare")
        return self._transport.read(list[RetrievalDifference], path, key="differences", params=asked)

    def question(
        self, set_name: str, question_id: str, *, depth: int = 20, qrels: str = ""
    ) -> QuestionRankings:
        """What systems retrieved for a question, and missed; passages of your own systems alone."""
        path = path_of("sets", set_name, "retrieval", "questions", question_id)
        return self._transport.read(QuestionRankings, path, params={"depth": depth, "qrels": qrels})
