"""Search in the questions, references and answers of a round, by the store's index of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from arena.models.results import FoundText, RoundQuestion, RoundQuestionPage
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.evidence.question_lists import Order, QuestionFilter, QuestionListService
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError
from data.search.query import SearchQuery, excerpt
from data.store import Store
from data.store.rounds.question_stats import QuestionStats
from data.store.text_index import QUESTIONS, FoundTexts


class MarkedText(FoundText):
    """Where a question has what was searched for; pages mark it in the excerpt."""

    pieces: tuple[tuple[str, bool], ...] = Field(exclude=True)
    """Of each piece of the excerpt whether it was searched for."""


class Readable(dict[int, str]):
    """Whose texts somebody may search, as names by number; `reference` is the number of the reference."""

    reference: int = 0


class QuestionSearch:
    """Use cases of readers who search in the texts of a round."""

    def __init__(self, store: Store, lists: QuestionListService) -> None:
        self._store, self._lists = store, lists

    def page(
        self,
        round_name: str,
        wanted: QuestionFilter,
        order: Order = Order.SET,
        *,
        after: int = 0,
        limit: int = 100,
        caller: Caller = PUBLIC,
    ) -> RoundQuestionPage:
        """Up to `limit` questions that a reader looks for, after the first `after`; as `find` and `excerpts`.

        Raises:
            InputError: No word is left that can be searched for, or the domain or the winner is none of the
                round's.
            NotFoundError: There is no such round that the caller may see.
        """
        listed = self._lists.of(round_name, caller=caller)
        self._check_names(round_name, wanted, caller)
        following = after + limit
        places: Mapping[str, MarkedText] = {}
        if wanted.search.strip():
            readable, query = self._readable(round_name, caller), SearchQuery.parse(wanted.search)
            found = self._store.texts.find(query, readable)
            matching = listed.matching(wanted, found=found.questions, order=order)
            places = self._excerpts(query, readable, matching[after:following], found)
        else:
            matching = listed.matching(wanted, order=order)
        return RoundQuestionPage(
            questions=[
                RoundQuestion.of(line, found=places.get(line.id)) for line in matching[after:following]
            ],
            next=following if len(matching) > following else None,
            total=len(matching),
            notice=listed.notice,
        )

    def _check_names(self, round_name: str, wanted: QuestionFilter, caller: Caller) -> None:
        """Refuse a domain that the round's set lacks, and a winner that no battle of the round can have."""
        if wanted.domain is None and wanted.winner is None:
            return
        access = RoundAccess(self._store, caller, self._store.rounds.get(round_name))
        domains, systems = access.texts.domains, access.entrants
        if wanted.domain is not None and wanted.domain not in domains:
            raise InputError(
                f"The round {round_name} has no domain {wanted.domain!r}.",
                advice=f"There are: {', '.join(domains)}.",
            )
        if wanted.winner is not None and wanted.winner not in systems:
            raise InputError(
                f"No system {wanted.winner!r} can win a question of the round {round_name}.",
                advice=f"There are: {', '.join(sorted(systems))}. A reference wins none.",
            )

    def find(self, round_name: str, search: str, *, caller: Caller = PUBLIC) -> frozenset[int]:
        """The numbers of the questions that have a text with every word and "phrase" that is searched for.

        Only texts that the caller may read are searched, those of the round's systems and of its set's
        reference. All must be in one text: the question, the reference, or an answer. Questions of
        other sets may be among the numbers.

        Raises:
            InputError: No word is left that can be searched for.
            NotFoundError: There is no such round that the caller may see.
        """
        readable = self._readable(round_name, caller)
        return self._store.texts.find(SearchQuery.parse(search), readable).questions

    def excerpts(
        self, round_name: str, search: str, questions: Sequence[QuestionStats], *, caller: Caller = PUBLIC
    ) -> Mapping[str, MarkedText]:
        """Where some questions have what is searched for, by id; those without it are left out.

        The excerpt is of the reference where that has it, else of the answer of the first system by name,
        else of the question.

        Raises:
            InputError: No word is left that can be searched for.
            NotFoundError: There is no such round that the caller may see.
        """
        query, readable = SearchQuery.parse(search), self._readable(round_name, caller)
        return self._excerpts(query, readable, questions, self._store.texts.find(query, readable))

    def _excerpts(
        self, query: SearchQuery, readable: Readable, questions: Sequence[QuestionStats], texts: FoundTexts
    ) -> Mapping[str, MarkedText]:
        reference = readable.reference
        places = texts.places({question.number for question in questions})
        chosen = {
            number: min(found, key=lambda place: (place == QUESTIONS, place != reference, readable[place]))
            for number, found in places.items()
        }
        contents = self._store.submissions.texts(
            [(place, number) for number, place in chosen.items() if place != QUESTIONS]
        )
        parts = {
            one.number: excerpt(contents.get((chosen[one.number], one.number), one.question), query)
            for one in questions
            if one.number in chosen
        }
        return {
            question.id: MarkedText(
                in_question=QUESTIONS in found,
                in_reference=reference in found,
                systems=sorted(readable[place] for place in found if place not in {QUESTIONS, reference}),
                source=readable[chosen[question.number]],
                excerpt=str(parts[question.number]),
                pieces=parts[question.number].pieces,
            )
            for question in questions
            if (found := places.get(question.number))
        }

    def _readable(self, round_name: str, caller: Caller) -> Readable:
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        reference = self._store.submissions.reference(round_.set_name)
        readable = Readable(
            (entrant.id, entrant.system)
            for entrant in seen.entrants.values()
            if seen.answers_of(entrant.system)
        )
        readable.reference = reference.id
        if seen.texts.sees_questions:
            readable[QUESTIONS] = ""
        if not seen.hides_references:
            readable[reference.id] = reference.system
        return readable
