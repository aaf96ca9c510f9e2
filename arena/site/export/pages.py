"""The pages of a board's export: plain HTML, one style sheet, links that lead from page to page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import Element

from arena.html_pages import rendered
from arena.services.evidence.questions import QuestionView
from arena.site.boards.matrix_page import matrix_table, opponents_table
from arena.site.boards.people_view import moves_table
from arena.site.boards.sentences import headline, leading, record_of, standing
from arena.site.boards.standings_table import standings_table
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.export.evidence import WORDS
from arena.site.questions.answers import LEGEND
from arena.site.questions.list_page import AT_ONCE
from arena.site.questions.list_table import question_table
from arena.site.systems.profile_table import profile_table
from arena.site.ui.components import notice_of
from arena.site.ui.help_texts import CITATION, DEFINITIONS
from arena.site.ui.markup import as_html
from arena.site.ui.tables import words_table
from data.records import Submission
from data.store.rounds.question_stats import QuestionRecord, QuestionStats
from leaderboard.export.board_fields import BATTLE_FIELDS, STANDINGS_FIELDS

ASSETS = Path(__file__).parents[1] / "assets"
STYLES = ("style.css", "document.css", "export.css")
POLICY = (
    "default-src 'none'; style-src 'self' file: 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
"""No script runs, and nothing is loaded but the style sheet. Opened from a disk, `self` names no file."""
MOST_IN_MATRIX = 30
MOST_RECORDS = 20
WIDEST_TITLE = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A file of the export's data: its name, what it is, its size in bytes."""

    name: str
    what: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A question on a system's page; `address` is empty where questions have no pages."""

    text: str
    address: str
    score: str


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class BoardPages:
    """Makes the pages of one board.

    Attributes:
        view: The board.
        questions: Its questions in order, each with a page; none where texts are left out.
        address: Of the arena that it is from; empty where nobody said.
    """

    view: BoardView
    questions: Sequence[QuestionStats] = ()
    address: str = ""
    systems: Mapping[str, str] = field(init=False)
    _numbers: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", _system_pages(self.view.systems))
        numbers = {question.id: at for at, question in enumerate(self.questions, 1)}
        object.__setattr__(self, "_numbers", numbers)

    @staticmethod
    def style() -> str:
        """The one style sheet."""
        return "".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES)

    @property
    def lists(self) -> int:
        """How many pages the list of questions has."""
        return -(-len(self.questions) // AT_ONCE)

    def index(self, trust: Sequence[str]) -> str:
        """The standings; `trust` is what else to say of the board, in sentences."""
        view = self.view
        domains = [
            {
                "id": f"domain-{at}",
                "label": view.label(domain),
                "leading": leading(view, domain),
                "table": self._table(standings_table(view, domain, view.lines[domain]), ""),
            }
            for at, domain in enumerate((OVERALL, *view.domains))
        ]
        small = len(view.tests.systems) <= MOST_IN_MATRIX
        return self._page(
            "index.html",
            view.title,
            domains=domains,
            lead=headline(view, OVERALL),
            notice=as_html(notice_of(view.notice)) if view.notice else "",
            people=self._table(moves_table(view), "") if view.people else "",
            matrix=self._table(matrix_table(view), "") if small else "",
            health=self._table(words_table(("Figure", "Value", "Meaning"), view.health, spare=1), "")
            if view.health
            else "",
            trust=trust,
        )

    def system(
        self,
        system: str,
        *,
        lost: Sequence[QuestionRecord] | None,
        won: Sequence[QuestionRecord] | None,
        submission: Submission | None,
    ) -> str:
        """A system: its figures, what it lost and won where that is known, its card."""
        return self._page(
            "system.html",
            system,
            up="../",
            system=system,
            standing=standing(self.view, system),
            record=record_of(self.view, system),
            profile=self._table(profile_table(self.view, system), "../"),
            opponents=self._table(opponents_table(self.view, system), "../"),
            lost=None if lost is None else [self._record(one) for one in lost[:MOST_RECORDS]],
            won=None if won is None else [self._record(one) for one in won[:MOST_RECORDS]],
            lost_in_all=len(lost or ()),
            won_in_all=len(won or ()),
            card="" if submission is None else self._table(_card(submission), "../"),
        )

    def question_list(self, page: int) -> str:
        """One page of the list of questions, from 1."""
        first = (page - 1) * AT_ONCE
        shown = self.questions[first : first + AT_ONCE]
        table = question_table(self.view, shown, {})
        return self._page(
            "questions.html",
            f"Questions, page {page}",
            up="../",
            here="questions",
            table=self._table(table, "../"),
            first=first + 1,
            last=first + len(shown),
            count=len(self.questions),
            page=page,
            pages=[(number, list_name(number)) for number in range(1, self.lists + 1)],
        )

    def question(self, number: int, question: QuestionView) -> str:
        """A question with its evidence; `number` is its place from 1."""
        title = f"{question.question.id}: {question.question.question}"
        decided = sum(evidence.battle.preference is not None for evidence in question.battles)
        return self._page(
            "question.html",
            title if len(title) <= WIDEST_TITLE else f"{title[:WIDEST_TITLE]}…",
            up="../",
            here="questions",
            question=question,
            facts_of_question=(
                ("domain", question.domain_label),
                ("question", question.question.id),
                ("answers", f"{len(question.answers)}"),
                ("battles decided", f"{decided} of {len(question.battles)}"),
            ),
            **WORDS,
            systems=self.systems,
            legend=LEGEND,
            reference_word="human-written reference" if self.view.by_people else "reference",
            list_address=list_name(-(-number // AT_ONCE)),
            before=question_name(number - 1) if number > 1 else "",
            after=question_name(number + 1) if number < len(self.questions) else "",
        )

    def method(self) -> str:
        """How it was judged and what the columns mean."""
        facts = (*self.view.facts, *self.view.details)
        return self._page(
            "method.html",
            "Method",
            here="method",
            details=self._table(words_table(("About this board", ""), facts), ""),
            definitions=self._table(words_table(("Column", "Meaning"), DEFINITIONS.items()), ""),
        )

    def data(self, files: Sequence[Download], withheld: str) -> str:
        """The files; `withheld` says why there are no questions."""
        view = self.view
        cited = CITATION.format(view=view, year=view.published[:4], address=self.address).splitlines()
        return self._page(
            "data.html",
            "Data",
            here="data",
            files=files,
            withheld=withheld,
            standings_fields=self._table(words_table(("Field", "Meaning"), STANDINGS_FIELDS.items()), ""),
            battle_fields=self._table(words_table(("Field", "Meaning"), BATTLE_FIELDS.items()), ""),
            citation="\n".join(line for line in cited if self.address or "url = " not in line),
        )

    def _page(self, template: str, title: str, *, up: str = "", here: str = "index", **values: object) -> str:
        questions = (("questions", f"questions/{list_name(1)}", "Questions"),) if self.questions else ()
        return rendered(
            f"export/{template}",
            view=self.view,
            title=title if title == self.view.title else f"{title} – {self.view.title}",
            up=up,
            here=here,
            sections=(*questions, ("method", "method.html", "Method"), ("data", "data.html", "Data")),
            policy=POLICY,
            **values,
        )

    def _table(self, root: Element, up: str) -> str:
        """A table whose links lead to pages of the export, and which can be scrolled by keyboard."""
        for anchor in list(root.iter("a")):
            target = self._target(anchor.get("href", ""))
            anchor.attrib.pop("target", None)
            if target:
                anchor.set("href", f"{up}{target}")
            else:
                anchor.attrib.pop("href", None)
                anchor.tag = "span"
        caption = root.find("table/caption")
        label = "Table" if caption is None else str(caption.text)
        root.attrib.update({"tabindex": "0", "role": "region", "aria-label": label})
        return as_html(root)

    def _target(self, href: str) -> str:
        """The page of the export that stands for one of the site; empty where none does."""
        parts = urlsplit(href)
        named = parse_qs(parts.query).get("id", [""])[0]
        match parts.path:
            case "./system":
                return self.systems.get(named, "")
            case "./question" if named in self._numbers:
                return f"questions/{question_name(self._numbers[named])}"
            case _:
                return ""

    def _record(self, record: QuestionRecord) -> Record:
        number = self._numbers.get(record.id)
        label = self.view.label(record.domain)
        return Record(
            text=record.question,
            address="" if number is None else f"../questions/{question_name(number)}",
            score=f"{record.wins} won · {record.ties} tied · {record.losses} lost · {label}",
        )


def question_name(number: int) -> str:
    """The file of a question's page: ids are free text, so the number names it."""
    return f"{number:05}.html"


def list_name(page: int) -> str:
    """The file of one page of the list of questions."""
    return "index.html" if page == 1 else f"page-{page}.html"


def _system_pages(systems: Sequence[str]) -> Mapping[str, str]:
    """Each system's page; where two names differ by case alone, a number tells their files apart."""
    pages: dict[str, str] = {}
    taken: set[str] = set()
    for system in systems:
        name, number = system, 1
        while name.casefold() in taken:
            number += 1
            name = f"{system}-{number}"
        taken.add(name.casefold())
        pages[system] = f"systems/{name}.html"
    return pages


def _card(submission: Submission) -> Element:
    entries = {
        "team": submission.team,
        **asdict(submission.card),
        "version": f"{submission.version}",
        "answers": f"{submission.answers:,}",
        "submitted": submission.created_at.date().isoformat(),
        "content sha256": submission.content_hash,
    }
    return words_table(("Field", "Value"), [(name, value) for name, value in entries.items() if value])
