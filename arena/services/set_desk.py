"""The organisers' desk for question sets: bring one, look at it, open and freeze it."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from arena.services.identity import Caller, require
from arena.services.policies import PolicyService
from arena.services.sets import ImportedSet, SetService
from data.archives import unpack
from data.errors import InputError
from data.records import Phase, SetPolicy, SetSummary, Submission, TokenScope
from data.store import Store

ZIP = b"PK"
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetView:
    """A set as organisers see it.

    `splits` counts questions by split, `references` those that have one; `entrants` are the submissions that
    a round would take; `frozen` says that no phase is open or will open.
    """

    summary: SetSummary
    policy: SetPolicy
    splits: Mapping[str, int]
    references: int
    entrants: tuple[Submission, ...]
    frozen: bool


class SetDesk:
    """Use cases of organisers around sets; every one asks who the caller is."""

    def __init__(self, store: Store, sets: SetService, policies: PolicyService) -> None:
        self._store = store
        self._sets = sets
        self._policies = policies

    def bring(
        self, file_name: str, content: bytes, *, name: str | None = None, caller: Caller
    ) -> ImportedSet:
        """Import an uploaded set: a zip file of a set's folder, a questions file, or one of LFRQA's files.

        Args:
            file_name: As the browser calls it; LFRQA's files are known by their names.
            content: The file.
            name: What to call the set; None as the file says.
            caller: Who asks.

        Raises:
            InvalidFileError: The files have problems; all are listed and nothing is stored.
            FileFormatError: It cannot be unpacked or read.
            ConflictError: Another set has this name.
        """
        require(caller, TokenScope.ORGANISE)
        plain = PurePosixPath(file_name.replace("\\", "/")).name
        if not FILE_NAME.fullmatch(plain):
            raise InputError(
                f"The file name {plain[:60]!r} cannot be used.",
                advice="Use letters, digits, dots and dashes.",
            )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / plain
            file.write_bytes(content)
            if not content.startswith(ZIP):
                return self._sets.import_from(file, name=name, caller=caller)
            # The folder's name is what a set without set.toml is called.
            inside = Path(folder) / "unpacked" / (PurePosixPath(plain).stem or "set")
            inside.mkdir(parents=True)
            return self._sets.import_from(unpack(file, inside), name=name, caller=caller)

    def view(self, name: str, *, caller: Caller) -> SetView:
        """One set.

        Raises:
            NotFoundError: There is none of this name.
        """
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
        """Close a set for good: open phases end now, later ones are dropped; what was accepted stays.

        Raises:
            NotFoundError: There is no such set.
        """
        return self._policies.put(frozen(self._policies.get(name), datetime.now(UTC)), caller=caller)


def frozen(policy: SetPolicy, at: datetime) -> SetPolicy:
    """A policy under which nothing is taken from a moment on."""
    begun = [one for one in policy.phases if one.opens_at is None or one.opens_at < at]
    ended = [one if one.closes_at and one.closes_at <= at else replace(one, closes_at=at) for one in begun]
    return replace(policy, phases=tuple(ended) or (Phase(name=CLOSED, closes_at=at),))


def is_frozen(policy: SetPolicy, at: datetime) -> bool:
    """Whether a set takes nothing now and never will."""
    return bool(policy.phases) and all(one.closes_at and one.closes_at <= at for one in policy.phases)
