"""Votes of people that an organiser chooses for a board: labels of a task, or a votes file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from arena.services.accounts.auth import Caller
from arena.services.people.round_votes import VoteSource
from arena.site.admin.common import attempt
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.done import show_done
from arena.site.uploaded_files import choose_file, laid_down
from data.records import Round
from leaderboard.standings.corrected import people_sentence
from leaderboard.vocabulary import VoteRule

MOST_MB = 32
NONE, FILE = "", "file"
RULES = {VoteRule.MEAN: "their mean share", VoteRule.MAJORITY: "what more than half say"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenVotes:
    """What was chosen: a task's name, a file, or neither."""

    task: str
    file: UploadedFile | None
    rule: VoteRule

    @property
    def chosen(self) -> bool:
        """Whether there are votes."""
        return bool(self.task) or self.file is not None

    @contextmanager
    def source(self) -> Iterator[VoteSource | None]:
        """Where the votes come from, until the end of the block; None where nothing is chosen."""
        if self.file is not None:
            with laid_down(self.file, most_mb=MOST_MB) as path:
                yield VoteSource(name=self.file.name, file=path, rule=self.rule)
        elif self.task:
            yield VoteSource(name=self.task, rule=self.rule)
        else:
            yield None


def choose_votes(round_: Round, caller: Caller) -> ChosenVotes:
    """Let the organiser choose votes on a round's battles."""
    tasks = [
        task.name for task in arena().annotation.tasks(caller=caller) if task.set_name == round_.set_name
    ]
    labels = {
        NONE: "none: what the judge says alone",
        FILE: "a votes file",
        **{f"task {name}": f"labels of the task {name}" for name in tasks},
    }
    picked = st.selectbox("Votes of people", list(labels), format_func=labels.__getitem__, key="votes")
    file = None
    if picked == FILE:
        types = ("jsonl", "json", "csv", "gz")
        file = choose_file("Votes", key="votes-file", types=types, most_mb=MOST_MB)
    rule = st.radio(
        "Several votes on a battle count as",
        list(RULES),
        format_func=RULES.__getitem__,
        horizontal=True,
        key="vote-rule",
        disabled=picked == NONE,
    )
    return ChosenVotes(task=picked.removeprefix("task ") if picked != FILE else "", file=file, rule=rule)


def correct_published(round_: Round, caller: Caller) -> None:
    """Offer to put what people would say on a published board, as another snapshot."""
    board = arena().boards.get(round_.name, caller=caller)
    st.subheader("What people would say", anchor="people")
    note(f"{people_sentence(board.standings)}. A correction makes another snapshot; this one stays.")
    show_done("correction")
    votes = choose_votes(round_, caller)

    def publish() -> None:
        with votes.source() as source:
            arena().boards.publish(round_.name, report=note, people=source, caller=caller)

    if st.button("Publish the correction", icon=":material/how_to_vote:", disabled=not votes.chosen):
        attempt(publish, "The corrected board is published.", "correction")
