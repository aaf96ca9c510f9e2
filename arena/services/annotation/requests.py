"""What a task is to be, checked before anything is stored."""

from __future__ import annotations

from dataclasses import dataclass

from data.errors import InputError
from data.records import LARGEST_GRADE, SCALES, DrawKind, LabelScale, TaskKind, TaskTerms, require_name

PAIR = 2
MOST_ITEMS = 20_000
MOST_OVERLAP = 100
LONGEST_HOLD = 60 * 24 * 30
LONGEST_TERMS = 20_000
NUL = "\x00"
DEFAULT_CONSENT = (
    "Your labels, your comments and the time each label took are kept with the name of your account. They "
    "are used to say which answers people prefer, and may be published without your name. You can change "
    "them until the task is closed, and have them deleted whenever you ask."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenItem:
    """An item that is named by hand; `gold` is its right value, None where it has no known answer.

    Pairs name two systems, spans one, passages and answerability a sub-question (or the question itself) and
    for passages a passage.
    """

    question_id: str
    system_a: str = ""
    system_b: str = ""
    passage: str = ""
    sub_question: str = ""
    gold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """What a task is to be.

    Attributes:
        name: Its name.
        set_name: The question set; for battles of a round it may be empty.
        kind: What people are asked.
        systems: Every pair of these is a candidate; for spans each of them alone.
        round_name: The battles of this round are the candidates.
        chosen: These are the candidates, in this order.
        gold: Items with known answers, given to everybody besides.
        draw: How items are drawn from the candidates.
        count: How many are drawn; None for all.
        overlap: How many people label an item.
        annotators: Accounts that label it.
        open_to_all: Whether every other account may too.
        scale: How finely people say which answer is better.
        shows_reference: Whether they see the reference.
        seed: Of the draw and of which answer is shown first.
        consent: What people agree to; empty for the usual words.
        instructions: What to look at; empty for the usual rubric.
        hold_minutes: How long an item is held for somebody.
    """

    name: str
    set_name: str = ""
    kind: TaskKind = TaskKind.PAIRS
    systems: tuple[str, ...] = ()
    round_name: str = ""
    chosen: tuple[ChosenItem, ...] = ()
    gold: tuple[ChosenItem, ...] = ()
    draw: DrawKind = DrawKind.UNIFORM
    count: int | None = None
    overlap: int = 3
    annotators: tuple[str, ...] = ()
    open_to_all: bool = False
    scale: LabelScale = LabelScale.GRADES
    shows_reference: bool = False
    seed: int = 0
    consent: str = ""
    instructions: str = ""
    hold_minutes: int = 60

    def __post_init__(self) -> None:
        require_name(self.name, "Task name")
        self._check_source()
        self._check_people()
        if self.count is not None and not 1 <= self.count <= MOST_ITEMS:
            raise InputError(f"{self.count} items cannot be drawn.", advice=f"Use 1 to {MOST_ITEMS:,}.")
        if not 1 <= self.hold_minutes <= LONGEST_HOLD:
            raise InputError(
                f"Items cannot be held for {self.hold_minutes} minutes.", advice=f"Use 1 to {LONGEST_HOLD:,}."
            )
        if max(len(self.consent), len(self.instructions)) > LONGEST_TERMS:
            raise InputError(
                "The text for annotators is too long.", advice=f"Use {LONGEST_TERMS:,} characters at most."
            )
        if NUL in self.consent + self.instructions:
            raise InputError("The text for annotators has a NUL character.", advice="Leave it out.")
        for item in self.gold:
            require_gold(self, item)

    def _check_source(self) -> None:
        sources = [bool(self.round_name), bool(self.chosen), len(self.systems) > 0]
        if self.kind is TaskKind.PAIRS and sum(sources) != 1:
            raise InputError(
                "A task takes its pairs from one place.",
                advice="Name systems, or a round, or a file of pairs.",
            )
        if self.kind is TaskKind.PAIRS and self.systems and len(set(self.systems)) < PAIR:
            raise InputError("A pair needs two systems.", advice="Choose two or more.")
        if self.kind is TaskKind.SPANS and (self.round_name or self.chosen or not self.systems):
            raise InputError("Spans are marked in answers of systems.", advice="Name one or more systems.")
        if self.kind in {TaskKind.ANSWERABILITY, TaskKind.PASSAGES, TaskKind.REFERENCES} and any(sources):
            raise InputError(
                f"A task of {self.kind} takes the questions and passages of its set.",
                advice="Name no systems, round or pairs.",
            )
        if not self.round_name and not self.set_name:
            raise InputError("The task has no question set.", advice="Name one, or a round.")
        if self.draw is DrawKind.DOUBT and not self.round_name:
            raise InputError(
                "Only battles of a round have a judge that may be unsure.",
                advice="Name a round, or draw uniformly or by domain.",
            )

    def _check_people(self) -> None:
        if not 1 <= self.overlap <= MOST_OVERLAP:
            raise InputError(
                f"An item cannot be labelled {self.overlap} times.", advice=f"Use 1 to {MOST_OVERLAP}."
            )
        people = len(set(self.annotators))
        if not self.open_to_all and self.overlap > people:
            raise InputError(
                f"{people} annotators cannot label each item {self.overlap} times.",
                advice="Choose more annotators or a smaller overlap, or open the task to every account.",
            )

    def terms(self) -> TaskTerms:
        """What the store keeps of it."""
        return TaskTerms(
            name=self.name,
            kind=self.kind,
            scale=self.scale,
            draw=DrawKind.ALL if self.count is None else self.draw,
            overlap=self.overlap,
            seed=self.seed,
            shows_reference=self.shows_reference,
            open_to_all=self.open_to_all,
            consent=self.consent.strip() or DEFAULT_CONSENT,
            instructions=self.instructions.strip(),
            hold_minutes=self.hold_minutes,
        )


def require_gold(request: TaskRequest, item: ChosenItem) -> None:
    """Refuse an item with a known answer that no label of this kind could give.

    Raises:
        InputError: It has none, or none of the scale.
    """
    if request.kind in {TaskKind.SPANS, TaskKind.REFERENCES}:
        raise InputError(f"A task of {request.kind} has no gold items.", advice="Leave them out.")
    low, high = scale_of(request.kind, request.scale)
    if item.gold is None or not low <= item.gold <= high:
        raise InputError(
            f"The gold item of question {item.question_id} has the value {item.gold}.",
            advice=f"Give the right value, {low} to {high}.",
        )


def scale_of(kind: TaskKind, scale: LabelScale) -> tuple[int, int]:
    """Smallest and largest value of a label."""
    if kind is TaskKind.PAIRS and scale is LabelScale.SIDES:
        return -1, 1
    return SCALES.get(kind, (0, LARGEST_GRADE))
