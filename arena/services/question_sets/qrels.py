"""Which passages are relevant to the questions of a set: as files judge them, or its own gold documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.models import retrieval as shapes
from arena.services.accounts.auth import OPERATOR, Caller, require
from data.errors import ConflictError, InvalidFileError, NotFoundError
from data.files.qrels import QrelsFile, read_qrels
from data.files.trec_runs import FieldNames
from data.records import Action, ProblemList, QuestionSet, TokenScope
from data.records.rankings import WHOLE, Qrels, QrelsKind
from data.store import Store

GOLD = "gold"
"""The name of what a set's `gold_doc_ids` say; no other judgments have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedQrels:
    """What attaching judgments did.

    Attributes:
        summary: The judgments.
        created: False where the same ones were there already.
        unknown: Questions of the file that the set does not have.
        repeated: Judgments that stood in the file once more.
    """

    summary: shapes.Qrels
    created: bool
    unknown: int
    repeated: int


class SetQrels:
    """Use cases around the relevance judgments of sets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def attach(
        self,
        set_name: str,
        path: Path,
        *,
        name: str = "",
        relevant_from: float | None = None,
        caller: Caller = OPERATOR,
    ) -> AttachedQrels:
        """Store the judgments of a file under a name of the set; the set itself stays as it is.

        Args:
            set_name: The set.
            path: TREC qrels, BEIR's, or JSONL with nuggets or the ratings of CRUX.
            name: By default `graded`, `diversity` or `ratings`, as the file is.
            relevant_from: The grade that counts as relevant; by default 1, or what the ratings say.
            caller: Who asks.

        Raises:
            NotFoundError: There is no such set.
            InvalidFileError: The file has problems, or judges no question of the set; nothing is stored.
            ConflictError: The name has other judgments.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        judged = read_qrels(path)
        return self.store(set_name, judged, path.name, name=name, relevant_from=relevant_from, caller=caller)

    def store(
        self,
        set_name: str,
        read: QrelsFile,
        file_name: str,
        *,
        name: str = "",
        relevant_from: float | None = None,
        caller: Caller = OPERATOR,
    ) -> AttachedQrels:
        """Store judgments that were read from a file, which messages name; otherwise as `attach`."""
        require(caller, TokenScope.ORGANISE)
        questions = self._store.sets.get(set_name)
        named = FieldNames(question.id for question in questions.questions)
        known = {
            own: grades for field, grades in read.judgments.items() if (own := named.get(field)) is not None
        }
        if not known:
            problems = ProblemList()
            message = f"{file_name} judges no question of {set_name}."
            problems.add(0, "unknown-question", message, advice="Use the ids of its questions.")
            raise InvalidFileError(message, problems.result(), advice="Look at `arena sets export`.")
        if name == GOLD:
            message = f"{GOLD} names what the set's gold_doc_ids say."
            raise ConflictError(message, advice="Choose another name.")
        judged = _qrels(name or read.kind.value, read.kind, relevant_from or read.relevant_from, known)
        with self._store.audit.audited() as notes:
            created = self._store.retrieval.add_qrels(set_name, judged)
            if created:
                subject = f"set {set_name}"
                notes.take(
                    caller.note(Action.QRELS_ATTACHED, subject, name=judged.name, questions=len(known))
                )
        return AttachedQrels(
            summary=_summary(questions, self._store.retrieval.qrels(set_name, judged.name)),
            created=created,
            unknown=len(read.judgments) - len(known),
            repeated=read.repeated,
        )

    def list(self, set_name: str) -> tuple[shapes.Qrels, ...]:
        """The judgments of a set, the newest first; last what its gold documents say.

        Raises:
            NotFoundError: There is no such set.
        """
        questions = self._store.sets.get(set_name)
        return tuple(_summary(questions, self.get(questions, name)) for name in self.names(questions))

    def names(self, questions: QuestionSet) -> tuple[str, ...]:
        """The names of a set's judgments, those first that count where none is named."""
        gold = (GOLD,) if any(question.gold_doc_ids for question in questions.questions) else ()
        return (*self._store.retrieval.qrels_names(questions.name), *gold)

    def get(self, questions: QuestionSet, name: str = "") -> Qrels:
        """Judgments of a set; those attached last where none are named, else its gold documents.

        Raises:
            NotFoundError: It has none, or none of this name.
        """
        names = self.names(questions)
        if not names:
            raise NotFoundError(
                f"{questions.name} does not say which passages are relevant.",
                advice=f"Attach judgments with `arena sets attach --kind qrels {questions.name} FILE`.",
            )
        wanted = name or names[0]
        return _gold(questions) if wanted == GOLD else self._store.retrieval.qrels(questions.name, wanted)


def _gold(questions: QuestionSet) -> Qrels:
    judged = {
        question.id: {WHOLE: dict.fromkeys(question.gold_doc_ids, 1.0)}
        for question in questions.questions
        if question.gold_doc_ids
    }
    if not judged:
        raise NotFoundError(f"{questions.name} has no gold_doc_ids.", advice="Attach judgments instead.")
    return _qrels(GOLD, QrelsKind.GRADED, 1.0, judged)


def _qrels(
    name: str,
    kind: QrelsKind,
    relevant_from: float,
    judgments: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> Qrels:
    content = json.dumps([kind, relevant_from, judgments], sort_keys=True, ensure_ascii=False)
    return Qrels(
        name=name,
        kind=kind,
        relevant_from=relevant_from,
        judgments=judgments,
        content_hash=hashlib.sha256(content.encode("utf-8", errors="surrogatepass")).hexdigest(),
    )


def _summary(questions: QuestionSet, qrels: Qrels) -> shapes.Qrels:
    return shapes.Qrels(
        name=qrels.name,
        kind=qrels.kind,
        relevant_from=qrels.relevant_from,
        questions=len(qrels.judgments),
        without_relevant=len(qrels.judgments) - len(qrels.relevant),
        unjudged=len(questions.questions) - len(qrels.judgments),
        judgments=sum(len(grades) for own in qrels.judgments.values() for grades in own.values()),
        relevant=sum(map(len, qrels.relevant.values())),
        subtopics=sum(len(qrels.answering(question)) for question in qrels.relevant)
        if qrels.has_subtopics
        else 0,
        content_hash=qrels.content_hash,
    )
