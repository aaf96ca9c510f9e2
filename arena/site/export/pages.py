"""The pages of a board's export: plain HTML, one style sheet, links that lead from page to page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import Element

from arena.html_pages import rendered
from arena.services.boards.metric_columns import column_meanings
from arena.services.evidence.questions import QuestionView
from arena.site.boards.matrix_page import matrix_table, opponents_table
from arena.site.boards.people_view import moves_table
from arena.site.boards.sentences import headline, record_of, standing
from arena.site.boards.standings_table import domain_sections
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.questions.battles import verdict_chip
from arena.site.questions.list_page import AT_ONCE
from arena.site.questions.list_table import question_table
from arena.site.questions.question_view import evidence_values
from arena.site.systems.profile_table import profile_table
from arena.site.systems.record_parts import card_table, records_of
from arena.site.ui.help_texts import CITATION
from arena.site.ui.tables import scrolled, words_table
from data.records import Submission
from data.store.rounds.question_stats import QuestionRecord, QuestionStats
from data.system_names import file_name_of
from leaderboard.export.board_fields import BATTLE_FIELDS, standings_fields

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

    def index(self) -> str:
        """The standings."""
        view = self.view
        order = (OVERALL, *view.domains)
        small = len(view.meetings.systems) <= MOST_IN_MATRIX
        return self._page(
            "index.html",
            view.title,
            sections=domain_sections(view, lambda one: f"domain-{order.index(one)}", self._table),
            lead=headline(view, OVERALL),
            people=self._table(moves_table(view)) if view.people else None,
            matrix=self._table(matrix_table(view)) if small else None,
            health=self._table(words_table(("Figure", "Value", "Meaning"), view.health, spare=1))
            if view.health
            else None,
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
            outcomes=[
                (title, records_of(self.view, records, MOST_RECORDS, self._question_link))
                for title, records in (("Lost", lost), ("Won", won))
                if records is not None
            ],
            card=None if submission is None else self._table(card_table(submission), "../"),
        )

    def question_list(self, page: int) -> str:
        """One page of the list of questions, from 1."""
        first = (page - 1) * AT_ONCE
        shown = self.questions[first : first + AT_ONCE]
        table = question_table(self.view, shown)
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
        return self._page(
            "question.html",
            title if len(title) <= WIDEST_TITLE else f"{title[:WIDEST_TITLE]}…",
            up="../",
            here="questions",
            **evidence_values(self.view, question, self._system_link),
            chip_of=verdict_chip,
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
            details=self._table(words_table(("About this board"), facts)),
            definitions=self._table(words_table(("Column", "Meaning"), column_meanings().items())),
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
            standings_fields=self._table(words_table(("Field", "Meaning"), standings_fields().items())),
            battle_fields=self._table(words_table(("Field", "Meaning"), BATTLE_FIELDS.items())),
            citation="\n".join(line for line in cited if self.address or "url = " not in line),
        )

    def _system_link(self, system: str) -> str:
        """From the page of a question to that of a system; empty where it has none."""
        return f"../{self.systems[system]}" if system in self.systems else ""

    def _page(self, template: str, title: str, *, up: str = "", here: str = "index", **values: object) -> str:
        questions = (("questions", f"questions/{list_name(1)}", "Questions"),) if self.questions else ()
        return rendered(
            f"export/{template}",
            **{"view": self.view, **values},
            title=title if title == self.view.title else f"{title} – {self.view.title}",
            up=up,
            here=here,
            menu=(*questions, ("method", "method.html", "Method"), ("data", "data.html", "Data")),
            policy=POLICY,
        )

    def _table(self, root: Element, up: str = "") -> Element:
        """A table whose links lead to pages of the export, and which can be scrolled by keyboard."""
        for anchor in list(root.iter("a")):
            target = self._target(anchor.get("href", ""))
            anchor.attrib.pop("target", None)
            if target:
                anchor.set("href", f"{up}{target}")
            else:
                anchor.attrib.pop("href", None)
                anchor.tag = "span"
        return scrolled(root)

    def _target(self, href: str) -> str:
        """The page of the export that stands for one of the site; empty where none does."""
        parts = urlsplit(href)
        query = parse_qs(parts.query)
        named = (query.get("against") or query.get("id") or [""])[0]
        match parts.path:
            case "./system":
                return self.systems.get(named, "")
            case "./question" if named in self._numbers:
                return f"questions/{question_name(self._numbers[named])}"
            case _:
                return ""

    def _question_link(self, question: str) -> str:
        """From the page of a system to that of a question; empty where it has none."""
        number = self._numbers.get(question)
        return "" if number is None else f"../questions/{question_name(number)}"


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
        stem = name = file_name_of(system)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        pages[system] = f"systems/{name}.html"
    return pages
