"""Files of claims that people labelled: a format of its own, and WikiContradict's answers read as claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from data.errors import FileFormatError
from data.files.jsonl import each_row, in_words
from data.records import MetricItem, Passage
from judges.metrics.comprehensiveness.meta_files import Label as WikiLabel
from judges.metrics.comprehensiveness.meta_files import plain_wiki

WORDS: Mapping[str, bool] = {
    "supported": True,
    "true": True,
    "s": True,
    "contradicted": False,
    "not supported": False,
    "not-supported": False,
    "unsupported": False,
    "false": False,
    "ns": False,
    "c": False,
}
"""What labels say, in small letters; S, NS and C are those of the FactReasoner paper and its code."""
IRRELEVANT = frozenset({"ir", "irrelevant"})
"""Labels of claims that do not bear on the question, FActScore's IR: they are neither true nor false."""
EXPECTED = (
    "Rows have id, question, passages and claims; a claim has text and label (true or false, supported, "
    "not supported or contradicted, or S, NS, C, IR). Rows of FactReasoner (input, output, atoms, contexts), "
    "FActScore (input, output, annotations), ConflictBank and WikiContradict are read too."
)
BOTH: Mapping[int, slice] = {1: slice(0, 1), 2: slice(1, 2)}
"""What WikiContradict's answers saw: the second the first passage, the third the second, the others both."""


@dataclass(frozen=True, slots=True)
class LabelledClaims:
    """Claims on one question with what people say of them; `item` has the passages to hold them against.

    `irrelevant` counts the claims that people marked as such, which are left out.
    """

    item: MetricItem
    claims: tuple[str, ...]
    truths: tuple[bool, ...]
    irrelevant: int = 0


def truth_of(label: object) -> bool | None:
    """Whether a label says that a claim is supported; None where it says that the claim is irrelevant.

    Raises:
        ValueError: It says none of these.
    """
    if str(label).strip().casefold() in IRRELEVANT:
        return None
    truth = label if isinstance(label, bool) else WORDS.get(str(label).strip().casefold())
    if truth is None:
        problem = (
            "is missing"
            if label is None
            else f"{label!r} is none of {', '.join([*WORDS, *sorted(IRRELEVANT)])}"
        )
        raise ValueError(problem)
    return truth


class _Passage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    text: str
    title: str = ""


class _Claim(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=1)
    label: Annotated[bool | None, BeforeValidator(truth_of)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    question: str
    answer: str = ""
    passages: list[_Passage] = Field(min_length=1)
    claims: list[_Claim] = Field(min_length=1)


class _Context(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    text: str = ""
    snippet: str = ""
    title: str = ""


class _Atoms(BaseModel):
    """A row as FactReasoner writes it."""

    model_config = ConfigDict(extra="ignore")

    input: str
    output: str = ""
    atoms: list[_Claim] = Field(min_length=1)
    contexts: list[_Context] = Field(min_length=1)


class _Sentence(BaseModel):
    """A sentence of an answer with the facts that people found in it, None where it was left out."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    facts: list[_Claim] | None = Field(default=None, alias="human-atomic-facts")


class _Annotated(BaseModel):
    """A row as FActScore writes it; it has no passages."""

    model_config = ConfigDict(extra="ignore")

    input: str
    output: str = ""
    annotations: list[_Sentence] | None


def has_claims(line: Mapping[str, object]) -> bool:
    """Whether a parsed line holds labelled claims."""
    return any(name in line for name in ("claims", "atoms", "annotations"))


def read_labelled_claims(lines: Iterable[Mapping[str, Any]], *, where: str) -> tuple[LabelledClaims, ...]:
    """Read rows of labelled claims, of our format or FactReasoner's, FActScore's or WikiContradict's.

    Claims that people marked as irrelevant are left out and counted; an answer that nobody labelled is left
    out. FActScore's rows have no passages, so that a corpus is to be searched. Of ConflictBank, the default
    claim is true and held against its evidence and the misinformation (FactReasoner, section 4, Conflicts).

    Of WikiContradict, each answer is a claim, held against the passages that it was written from:
    `Correct` is true and `Incorrect` false; `Partially correct` is neither, and left out.

    Raises:
        InvalidFileError: Rows have another shape; all of them are listed.
        FileFormatError: Nothing is left.
    """
    rows = each_row(lines, _claims_of, where=where, expected=EXPECTED)
    labelled = tuple(row for row in chain.from_iterable(rows) if row.claims)
    if not labelled:
        message = f"{where} has no labelled claim."
        raise FileFormatError(message, advice="Give lines with claims and their labels.")
    return labelled


def _claims_of(number: int, row: Mapping[str, Any]) -> Sequence[LabelledClaims]:
    try:
        if "annotations" in row:
            return _factscore(number, row)
        if has_claims(row):
            return [_plain_row(row) if "claims" in row else _factreasoner(number, row)]
        if "default_claim" in row:
            return [_conflict(number, row)]
        return _wiki(number, row)
    except ValidationError as error:
        raise FileFormatError("; ".join(in_words(error)) + ".") from error


def _plain_row(row: Mapping[str, Any]) -> LabelledClaims:
    read = _Line.model_validate(row)
    passages = tuple(Passage(entry.id, entry.text, entry.title) for entry in read.passages)
    item = MetricItem(id=read.id, question=read.question, answer=read.answer, passages=passages)
    return _labelled(item, read.claims)


def _factreasoner(number: int, row: Mapping[str, Any]) -> LabelledClaims:
    read = _Atoms.model_validate(row)
    texts = [(context, context.text.strip() or context.snippet.strip()) for context in read.contexts]
    passages = tuple(Passage(context.id, text, context.title) for context, text in texts if text)
    if not passages:
        raise FileFormatError("none of its contexts has a text.")
    item = MetricItem(id=str(number), question=read.input, answer=read.output, passages=passages)
    return _labelled(item, read.atoms)


def _factscore(number: int, row: Mapping[str, Any]) -> list[LabelledClaims]:
    read = _Annotated.model_validate(row)
    facts = [fact for sentence in read.annotations or () for fact in sentence.facts or ()]
    if not facts:
        return []
    return [_labelled(MetricItem(id=str(number), question=read.input, answer=read.output), facts)]


class _Conflict(BaseModel):
    """A row of ConflictBank, of which the Conflicts set is made."""

    model_config = ConfigDict(extra="ignore")

    question: str = ""
    default_claim: str = Field(min_length=1)
    default: str = Field(validation_alias=AliasChoices("default_evidence", "correct_evidence"), min_length=1)
    misinformation: str = Field(
        validation_alias=AliasChoices(
            "misinformation_conflict_evidence", "misinformation_conflict_evidence_evidence"
        ),
        min_length=1,
    )


def _conflict(number: int, row: Mapping[str, Any]) -> LabelledClaims:
    read = _Conflict.model_validate(row)
    passages = (Passage("default", read.default), Passage("misinformation", read.misinformation))
    item = MetricItem(id=str(number), question=read.question, answer=read.default_claim, passages=passages)
    return LabelledClaims(item, (read.default_claim,), (True,))


def _labelled(item: MetricItem, claims: Sequence[_Claim]) -> LabelledClaims:
    known = [(claim.text, claim.label) for claim in claims if claim.label is not None]
    return LabelledClaims(
        item,
        tuple(text for text, _ in known),
        tuple(label for _, label in known),
        irrelevant=len(claims) - len(known),
    )


def _wiki(row_number: int, row: Mapping[str, Any]) -> list[LabelledClaims]:
    line = plain_wiki(row)
    try:
        question = str(line["question"])
        texts = [str(line[f"context{side}_self_contained"]) for side in (1, 2)]
    except KeyError as error:
        raise FileFormatError(f"{error.args[0]} is missing.") from error
    passages = tuple(Passage(f"context{side}", text) for side, text in enumerate(texts, 1))
    labelled = []
    number = 0
    while f"answer{number}" in line:
        answer, label = str(line[f"answer{number}"]), line.get(f"label{number}")
        if label in {WikiLabel.CORRECT, WikiLabel.INCORRECT} and answer.strip():
            contexts = passages[BOTH.get(number, slice(0, 2))]
            item = MetricItem(
                id=f"{row_number}.{number}", question=question, answer=answer, passages=contexts
            )
            labelled.append(LabelledClaims(item, (answer,), (label == WikiLabel.CORRECT,)))
        number += 1
    return labelled
