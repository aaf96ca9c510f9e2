"""Whose answers a metric is about, and who may see their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.services.accounts.auth import Caller
from arena.services.accounts.redaction import submission_visibility
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from arena.services.submissions.status import StatusReader
from data.errors import NotFoundError
from data.models import Submission, SubmissionKind
from data.store import Store

Seen = Callable[[Submission], bool]


def entrants_of(
    store: Store,
    set_name: str,
    systems: Sequence[str] = (),
    *,
    kind: SubmissionKind | None = SubmissionKind.ANSWERS,
    seen: Seen = lambda _: True,
) -> tuple[Submission, ...]:
    """The newest submissions of a set that are seen; the reference is among them only where it is named.

    `kind` None takes contexts without answers too.

    Raises:
        NotFoundError: There is no such set or system; the same where it is not seen.
    """
    store.sets.summary(set_name)
    live = tuple(filter(seen, store.submissions.find(set_name=set_name, kind=kind, newest=True)))
    if not systems:
        return live
    reference = store.submissions.reference(set_name)
    by_system = {entrant.system: entrant for entrant in (*live, *filter(seen, (reference,)))}
    unknown = [system for system in systems if system not in by_system]
    if unknown:
        message = f"{', '.join(unknown)} did not submit to {set_name}."
        raise NotFoundError(message, advice=f"There are: {', '.join(by_system) or 'none'}.")
    return tuple(by_system[system] for system in dict.fromkeys(systems))


def readable_by(store: Store, set_name: str, caller: Caller) -> Seen:
    """Whether somebody may see the scores of a submission: where its answers are public, or theirs.

    Scores are figures: they are seen also where a set's licence keeps its texts from the public.

    Raises:
        NotFoundError: There is no such set.
    """
    statuses = StatusReader(store, set_name)
    reference = store.submissions.reference(set_name).id
    hidden = Resource(kind=Kind.REFERENCE, hidden=store.policies.get(set_name).hidden_references)
    hides_reference = visibility_of(caller, hidden) is not Visibility.FULL

    def seen(submission: Submission) -> bool:
        if submission.id == reference:
            return not hides_reference
        published = statuses.published(submission)
        found = submission_visibility(caller, submission, published=published, kind=Kind.ANSWERS)
        return found is Visibility.FULL

    return seen
