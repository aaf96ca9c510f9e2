"""What a task is to be: one model for commands, pages and bodies of requests, checked before it is stored."""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from data.errors import InputError
from data.records import DrawKind, LabelScale, TaskKind, TaskTerms, require_name

PAIR = 2
MOST_ITEMS = 20_000
MOST_GOLD = 1_000
MOST_OVERLAP = 100
MOST_WRITERS = 2
LONGEST_HOLD = 60 * 24 * 30
LONGEST_TERMS = 20_000
NUL = "\x00"
DEFAULT_CONSENT = (
    "Your labels, your comments and the time each label took are kept with the name of your account. They "
    "are used to say which answers people prefer, and may be published without your name. You can change "
    "them until the task is closed, and have them deleted whenever you ask."
)
WRITERS_CONSENT = (
    "Your texts and the time that each took are kept with the name of your account. Those that an audit "
    "accepts become the references of a question set, which may be published without your name. You can "
    "change a text until its batch is audited, and have your texts deleted whenever you ask."
)
SENT = ConfigDict(extra="forbid", populate_by_name=True)


@dataclass(frozen=True, slots=True, kw_only=True, config=SENT)
class ChosenItem:
    """A pair that is named by hand; `gold` is its right value, None where it has no known answer."""

    question_id: str = Field(min_length=1, max_length=1_000)
    system_a: str = Field(default="", validation_alias="model_a", max_length=100)
    system_b: str = Field(default="", validation_alias="model_b", max_length=100)
    gold: int | None = Field(default=None, validation_alias="value", description="Where it is known.")


@dataclass(frozen=True, slots=True, kw_only=True, config=SENT)
class TaskRequest:
    """What a task is to be."""

    name: str = Field(max_length=100, examples=["people"])
    set_name: str = Field(
        default="", validation_alias="set", max_length=100, description="Its questions; empty with a round."
    )
    kind: TaskKind = TaskKind.PAIRS
    systems: tuple[str, ...] = Field(default=(), max_length=1_000, description="Every pair of these.")
    round_name: str = Field(
        default="", validation_alias="round", max_length=100, description="The battles of this round."
    )
    chosen: tuple[ChosenItem, ...] = Field(
        default=(), validation_alias="items", max_length=MOST_ITEMS, description="These pairs, in this order."
    )
    gold: tuple[ChosenItem, ...] = Field(
        default=(), max_length=MOST_GOLD, description="Items with known answers, given to everybody besides."
    )
    draw: DrawKind = Field(default=DrawKind.UNIFORM, description="How items are drawn from these.")
    count: int | None = Field(default=None, description="How many are drawn; null for all.")
    overlap: int | None = Field(default=None, description="People for each item; null for 3, of texts 1.")
    annotators: tuple[str, ...] = Field(default=(), max_length=10_000, description="Names of accounts.")
    open_to_all: bool = False
    scale: LabelScale = LabelScale.GRADES
    shows_reference: bool = False
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    consent: str = Field(default="", description="What people agree to; empty for the usual words.")
    instructions: str = Field(default="", description="What to look at; empty for the usual rubric.")
    hold_minutes: int | None = Field(
        default=None, description="How long an item is held for somebody; null for 60, of texts 240."
    )

    def __post_init__(self) -> None:
        require_name(self.name, "Task name")
        self._check_source()
        self._check_people()
        if self.count is not None and not 1 <= self.count <= MOST_ITEMS:
            raise InputError(f"{self.count} items cannot be drawn.", advice=f"Use 1 to {MOST_ITEMS:,}.")
        if self.hold_minutes is not None and not 1 <= self.hold_minutes <= LONGEST_HOLD:
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
            if item.gold is None or abs(item.gold) > self.scale.largest:
                raise InputError(
                    f"The gold item of question {item.question_id} has the value {item.gold}.",
                    advice=f"Give the right value, {-self.scale.largest} to {self.scale.largest}.",
                )

    def _check_source(self) -> None:
        sources = [bool(self.round_name), bool(self.chosen), bool(self.systems)]
        if self.writes and (any(sources) or self.gold):
            raise InputError(
                "A task of references takes the questions and passages of its set.",
                advice="Name no systems, round, pairs or gold items.",
            )
        if not self.writes and sum(sources) != 1:
            raise InputError(
                "A task takes its pairs from one place.",
                advice="Name systems, or a round, or a file of pairs.",
            )
        if self.systems and len(set(self.systems)) < PAIR:
            raise InputError("A pair needs two systems.", advice="Choose two or more.")
        if not self.round_name and not self.set_name:
            raise InputError("The task has no question set.", advice="Name one, or a round.")
        if self.draw is DrawKind.DOUBT and not self.round_name:
            raise InputError(
                "Only battles of a round have a judge that may be unsure.",
                advice="Name a round, or draw uniformly or by domain.",
            )

    def _check_people(self) -> None:
        most, wanted = MOST_WRITERS if self.writes else MOST_OVERLAP, self.people_per_item
        if not 1 <= wanted <= most:
            raise InputError(f"An item cannot be labelled {wanted} times.", advice=f"Use 1 to {most}.")
        people = len(set(self.annotators))
        if not self.open_to_all and wanted > people:
            raise InputError(
                f"{people} annotators cannot label each item {wanted} times.",
                advice="Choose more annotators or a smaller overlap, or open the task to every account.",
            )

    @property
    def writes(self) -> bool:
        """Whether people write references."""
        return self.kind is TaskKind.REFERENCES

    @property
    def people_per_item(self) -> int:
        """How many people label an item."""
        return (1 if self.writes else 3) if self.overlap is None else self.overlap

    def terms(self) -> TaskTerms:
        """What the store keeps of it."""
        usual = WRITERS_CONSENT if self.writes else DEFAULT_CONSENT
        return TaskTerms(
            name=self.name,
            kind=self.kind,
            scale=self.scale,
            draw=DrawKind.ALL if self.count is None else self.draw,
            overlap=self.people_per_item,
            seed=self.seed,
            shows_reference=self.shows_reference,
            open_to_all=self.open_to_all,
            consent=self.consent.strip() or usual,
            instructions=self.instructions.strip(),
            hold_minutes=self.hold_minutes or (240 if self.writes else 60),
        )
