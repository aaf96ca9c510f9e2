"""Phases, deadlines and quotas of question sets, and their administration."""

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from arena.formats import format_time
from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.question_sets.service import ImportedSet, SetService
from data.errors import ClosedError, NotFoundError
from data.files.text_files import file_name
from data.models import Phase, SetPolicy, SetSummary, Submission, TokenScope
from data.store import Store


class PolicyService:
    """Service for the submission policy of a set."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, set_name: str) -> SetPolicy:
        """Return the policy of a set, which is public."""
        return self._store.policies.get(set_name)

    def put_phase(self, set_name: str, phase: Phase, *, caller: Caller = OPERATOR) -> SetPolicy:
        """Add a phase to a set, or replace the phase of the same name."""
        policy = self.get(set_name)
        names = [existing.name for existing in policy.phases]
        phases = (
            tuple(phase if existing.name == phase.name else existing for existing in policy.phases)
            if phase.name in names
            else (*policy.phases, phase)
        )
        return self.put(replace(policy, phases=phases), caller=caller)

    def drop_phase(self, set_name: str, name: str, *, caller: Caller = OPERATOR) -> SetPolicy:
        """Remove a phase from a set."""
        policy = self.get(set_name)
        remaining = tuple(phase for phase in policy.phases if phase.name != name)
        if remaining == policy.phases:
            raise NotFoundError(
                f"{set_name} has no phase {name!r}.", advice=f"List them: arena sets policy {set_name}"
            )
        return self.put(replace(policy, phases=remaining), caller=caller)

    def hide_references(self, set_name: str, *, hidden: bool, caller: Caller = OPERATOR) -> SetPolicy:
        """Hide or show the references of a set's test questions."""
        return self.put(replace(self.get(set_name), hidden_references=hidden), caller=caller)

    def show_texts(self, set_name: str, *, public: bool, caller: Caller = OPERATOR) -> SetPolicy:
        """Set whether a set's texts are public; otherwise visitors cannot label."""
        return self.put(replace(self.get(set_name), public_texts=public), caller=caller)

    def put(self, policy: SetPolicy, *, caller: Caller = OPERATOR) -> SetPolicy:
        """Replace the policy of a set; errors are those of `put_phase`."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            stored = self._store.policies.put(policy)
            subject = f"set {policy.set_name}"
        caller.log("policy-changed", subject, **policy_json(stored))
        return stored


def policy_json(policy: SetPolicy) -> dict[str, Any]:
    """Return a policy as JSON."""
    return {
        "set": policy.set_name,
        "hidden_references": policy.hidden_references,
        "public_texts": policy.public_texts,
        "phases": [
            {
                **asdict(phase),
                "opens_at": phase.opens_at and phase.opens_at.isoformat(),
                "closes_at": phase.closes_at and phase.closes_at.isoformat(),
            }
            for phase in policy.phases
        ],
    }


def closed_error(policy: SetPolicy) -> ClosedError:
    """Return the error for a closed set, with its phases."""
    spans = "; ".join(
        " ".join([f"phase {phase.name}", *(f"{word} {format_time(at)}" for word, at in limits if at)])
        for phase in policy.phases
        for limits in [(("from", phase.opens_at), ("until", phase.closes_at))]
    )
    return ClosedError(
        f"{policy.set_name} is closed for submissions: {spans}.",
        advice="Ask the organisers about other phases.",
    )


ZIP = b"PK"
MAX_DEPTH = 3
"""Maximum depth of paths in a zip file, such as `scifact/qrels/test.tsv`."""
CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetView:
    """Set as organisers see it.

    `splits` counts questions by split, `references` questions with a reference; `entrants` are the
    submissions that a round would take; `frozen` is True once no phase can open.
    """

    summary: SetSummary
    policy: SetPolicy
    splits: Mapping[str, int]
    references: int
    entrants: tuple[Submission, ...]
    frozen: bool


class SetAdmin:
    """Service for organisers of sets."""

    def __init__(self, store: Store, sets: SetService, policies: PolicyService) -> None:
        self._store = store
        self._sets = sets
        self._policies = policies

    def upload(
        self, filename: str, content: bytes, *, name: str | None = None, caller: Caller
    ) -> ImportedSet:
        """Import an uploaded set: a zipped folder, questions file, Parquet file or file of LFRQA."""
        require(caller, TokenScope.ORGANISE)
        from data.files.zip_files import ArchiveLimits, unpack

        plain = file_name(filename)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / plain
            file.write_bytes(content)
            if not content.startswith(ZIP):
                return self._sets.import_from(file, name=name, caller=caller)
            # A set without set.toml is named after its folder.
            inside = Path(folder) / "unpacked" / (PurePosixPath(plain).stem or "set")
            inside.mkdir(parents=True)
            unpacked = unpack(file, inside, ArchiveLimits(deepest=MAX_DEPTH))
            return self._sets.import_from(unpacked, name=name, caller=caller)

    def view(self, name: str, *, caller: Caller) -> SetView:
        """Return a set."""
        require(caller, TokenScope.ORGANISE)
        summary = self._sets.summary(name)
        policy = self._policies.get(name)
        splits: Counter[str] = Counter()
        references = 0
        for _, question in self._store.sets.numbered(summary.id):
            splits[question.split.value] += 1
            references += bool(question.reference)
        return SetView(
            summary=summary,
            policy=policy,
            splits=splits,
            references=references,
            entrants=self._store.submissions.find(set_name=name, newest=True),
            frozen=is_frozen(policy, datetime.now(UTC)),
        )

    def freeze(self, name: str, *, caller: Caller) -> SetPolicy:
        """Close a set permanently: end open phases, drop later ones, and keep accepted submissions."""
        return self._policies.put(frozen(self._policies.get(name), datetime.now(UTC)), caller=caller)


def frozen(policy: SetPolicy, at: datetime) -> SetPolicy:
    """Return a policy that closes all phases at a moment."""
    begun = [phase for phase in policy.phases if phase.opens_at is None or phase.opens_at < at]
    ended = [
        phase if phase.closes_at and phase.closes_at <= at else replace(phase, closes_at=at)
        for phase in begun
    ]
    return replace(policy, phases=tuple(ended) or (Phase(name=CLOSED, closes_at=at),))


def is_frozen(policy: SetPolicy, at: datetime) -> bool:
    """Return whether a set is closed permanently."""
    return bool(policy.phases) and all(phase.closes_at and phase.closes_at <= at for phase in policy.phases)
