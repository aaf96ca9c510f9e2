"""Redaction of submissions, questions and judgments for a caller."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from arena.services.accounts.auth import Caller
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from data.models import BattleEvidence, Judgment, Question, Split, Submission, SubmissionState, SystemCard

NAMELESS = "Anonymous-"
WITHHELD = "Hidden: it quotes texts that are not public."


def placeholder(question_id: str) -> str:
    """Return the placeholder for the text of a hidden question."""
    return f"{question_id} (text not public)"


def submission_visibility(
    caller: Caller,
    submission: Submission,
    *,
    published: bool,
    kind: Kind = Kind.SUBMISSION,
    private: bool = False,
) -> Visibility:
    """Return the caller's view of a submission or its parts; `private` if its set's texts are not public."""
    return visibility_of(
        caller,
        Resource(
            kind=kind,
            team=submission.team,
            checked=submission.submitted_at is None,
            withdrawn=submission.state is SubmissionState.WITHDRAWN,
            anonymous=submission.anonymous,
            published=published,
            private=private,
        ),
    )


def redacted(
    caller: Caller, submission: Submission, *, published: bool, places: Mapping[str, int]
) -> tuple[Submission, Visibility] | None:
    """Return a submission as a caller sees it, with its visibility; None if it is hidden.

    `published` is True if it is or was on a published board; hidden systems are named by `places`.
    """
    seen = submission_visibility(caller, submission, published=published)
    contact = (
        submission_visibility(caller, submission, published=published, kind=Kind.CONTACT) is Visibility.FULL
    )
    if seen is Visibility.NONE:
        return None
    if seen is Visibility.NAMELESS:
        name = f"{NAMELESS}{places[submission.system]}"
        hidden = {"system": name, "team": "", "card": SystemCard(), "content_hash": ""}
    elif seen is Visibility.TOMBSTONE:
        hidden = {"card": SystemCard(), "content_hash": ""}
    else:
        hidden = {} if contact else {"card": replace(submission.card, contact="")}
    return submission.model_copy(update=hidden), seen


def redacted_question(caller: Caller, question: Question, *, hidden: bool, private: bool = False) -> Question:
    """Return a question; if its set hides the reference, without that and data derived from it.

    Passages stay, since systems need them; in a `private` set only teams see them and the question.
    """
    takes_part = visibility_of(caller, Resource(kind=Kind.QUESTION, private=private)) is Visibility.FULL
    tested = question.split is Split.TEST
    private = private and (tested or not takes_part)
    resource = Resource(kind=Kind.REFERENCE, hidden=hidden and tested, private=private)
    if visibility_of(caller, resource) is Visibility.FULL:
        return question
    visible = question if takes_part else replace(question, question=placeholder(question.id), passages=())
    return without_answers(visible)


def without_answers(question: Question) -> Question:
    """Return a question without its reference and data derived from it."""
    return replace(
        question,
        reference=None,
        aspects=(),
        short_answers=(),
        sub_questions=(),
        gold_doc_ids=(),
        citation_numbers=(),
        citations=(),
        nuggets=(),
    )


def without_words(evidence: BattleEvidence) -> BattleEvidence:
    """Return a battle without rationales, which may quote hidden texts; verdicts stay."""
    return replace(evidence, judgments=tuple(map(_without_words, evidence.judgments)))


def _without_words(judgment: Judgment) -> Judgment:
    return replace(judgment, rationale=WITHHELD, detail="", reply=None)


ADDRESS = re.compile(r"\bhttps?://[^\s\\\"'<>()]++|\b\d{1,3}(?:\.\d{1,3}){3}\b")
HIDDEN = "(address)"


def hide_addresses(text: str, hosts: Iterable[str] = ()) -> str:
    """Return a text without URLs, IP addresses and `hosts`."""
    text = ADDRESS.sub(HIDDEN, text)
    for host in hosts:
        text = text.replace(host, HIDDEN)
    return text


@lru_cache(maxsize=1 << 8)
def _addressed(text: str) -> bool:
    return ADDRESS.search(text) is not None


def without_addresses(evidence: BattleEvidence) -> BattleEvidence:
    """Return a battle without the addresses of endpoints, which are never public."""
    judgments = evidence.judgments
    texts = (evidence.battle.detail, *(text for row in judgments for text in (row.detail, row.settings)))
    if all(row.reply is None and not row.earlier for row in judgments) and not any(map(_addressed, texts)):
        return evidence
    hosts = {host for judgment in judgments for host in _hosts(judgment)} - {""}
    return replace(
        evidence,
        battle=replace(evidence.battle, detail=hide_addresses(evidence.battle.detail, hosts)),
        judgments=tuple(_without_address(judgment, hosts) for judgment in judgments),
    )


def _hosts(judgment: Judgment) -> Iterator[str]:
    replies = (*judgment.earlier, *([judgment.reply] if judgment.reply else []))
    for address in (*(reply.endpoint for reply in replies), *ADDRESS.findall(judgment.settings)):
        yield urlsplit(address).hostname or ""


def _without_address(judgment: Judgment, hosts: AbstractSet[str]) -> Judgment:
    return replace(
        judgment,
        detail=hide_addresses(judgment.detail, hosts),
        settings=hide_addresses(judgment.settings, hosts),
        reply=None if judgment.reply is None else replace(judgment.reply, endpoint=""),
        earlier=tuple(replace(reply, endpoint="") for reply in judgment.earlier),
    )


def without_locations(judge: Mapping[str, Any]) -> dict[str, Any]:
    """Return a round's judge without its endpoints and the path of its file."""
    members = [without_locations(member) for member in judge.get("members") or ()]
    public = {name: value for name, value in judge.items() if name not in {"endpoint", "source", "members"}}
    return {**public, "members": members}


def hide_field_addresses(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON fields without the addresses of endpoints."""
    hidden: dict[str, Any] = json.loads(hide_addresses(json.dumps(dict(fields), default=str)))
    return hidden
