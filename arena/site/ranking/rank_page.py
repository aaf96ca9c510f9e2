"""New board: files are dropped, understood and priced; a worker judges them, and their board follows."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.ranking.new_boards import without_commands
from arena.services.ranking.requests import RankRequest
from arena.services.ranking.service import Prepared
from arena.site.admin.common import grid, organiser, show_work, usd, watched
from arena.site.admin.judges_page import show_newest
from arena.site.ranking.files import understood
from arena.site.services import arena
from arena.site.ui.html import anchor, heading, lead, note, page_heading, paragraph, strip
from arena.site.ui.messages import attempt, show_error, show_flash
from arena.site.uploads import choose_files
from data.errors import ArenaError
from data.models import RoundState
from data.text import percent
from submissions.answer_tables import AnswerTable

EMBEDDED = "lexical"
PRICED, TESTED = "rank-priced", "rank-test"


def show() -> None:
    """Take files of answers to a board; a ranking that the address names is watched instead."""
    caller = organiser()
    page_heading("New board")
    started = st.query_params.get("ranking")
    if started:
        watched(show_running, started, caller)
        return
    lead("Drop the answers of some systems. You see what was understood and what it costs before it starts.")
    dropped = choose_files("Files of answers", key="rank-files", advice="A file a system, or a table of all.")
    with st.expander("Right answers or passages in a file of their own"):
        right = choose_files("References", key="rank-references")
    tables = understood(dropped) if dropped else None
    references = understood(right[:1], answers=False) if right else []
    if not tables or references is None:
        return
    request, key = _ask(tables, references, caller)
    if request is not None:
        _offer(request, tables, references[0] if references else None, key, caller)


def _ask(
    tables: Sequence[AnswerTable], references: Sequence[AnswerTable], caller: Caller
) -> tuple[RankRequest | None, str]:
    heading("Judge", anchor="judge")
    rows = [row for table in (*tables, *references) for some in table.systems.values() for row in some]
    held = any(row.reference or row.contexts for row in rows) or bool(references)
    names = [one.name for one in arena().judges.known() if not one.problem]
    judge = st.selectbox(
        "Judge or model",
        names,
        index=names.index(EMBEDDED) if held and EMBEDDED in names else None,
        placeholder="gpt-5-mini, llama3.1, …",
        accept_new_options=True,
        help="A judge by its name, or the model that is asked. The judge lexical needs no model, but "
        "references or passages.",
    )
    if judge == EMBEDDED:
        return RankRequest(judge=judge, afresh=True), ""
    endpoint = st.text_input("Endpoint", placeholder=arena().settings.endpoint, key="rank-endpoint").strip()
    there = "from the environment" if arena().settings.has_key else "none is set"
    key = st.text_input(
        "Key, for this run only", type="password", placeholder=there, key="rank-key", autocomplete="off"
    )
    cap = st.number_input("At most, in USD", 0.0, value=None, placeholder="no cap", key="rank-cap")
    if not judge:
        note("Name a model, or a judge.")
        return None, ""
    if st.button("Test", icon=":material/experiment:"):
        _test(judge, endpoint, key, caller)
    if st.session_state.get(TESTED):
        watched(show_newest)
    return RankRequest(judge=judge, endpoint=endpoint, budget_usd=cap, afresh=True), key


def _test(judge: str, endpoint: str, key: str, caller: Caller) -> None:
    st.session_state[TESTED] = not (endpoint or key)
    try:
        tested = arena().new_boards.test(judge, endpoint=endpoint, key=key, caller=caller)
    except ArenaError as error:
        show_error(error)
        return
    if tested is not None:
        (st.success if tested.passed else st.warning)(tested.sentence)


def _offer(
    request: RankRequest,
    tables: Sequence[AnswerTable],
    references: AnswerTable | None,
    key: str,
    caller: Caller,
) -> None:
    heading("Cost", anchor="cost")
    try:
        prepared, plan = _priced(request, tables, references, caller)
    except ArenaError as error:
        show_error(error)
        return
    for line in (*prepared.pool.notes, prepared.sentence):
        note(line)
    strip(
        [
            ("comparisons", f"{plan['planned']:,}"),
            ("requests", f"{plan['requests']:,}"),
            ("in the cache", f"{plan['cached']:,}"),
            ("expected", usd(plan["cost_usd"])),
            ("at most", usd(plan["cost_usd_most"])),
        ]
    )
    show_flash("rank")

    def start() -> None:
        round_ = arena().new_boards.start(request, tables, references, key=key, caller=caller)
        st.query_params["ranking"] = round_.name

    if st.button("Start", type="primary", icon=":material/play_arrow:"):
        attempt(start, "It waits for a worker.", "rank")


def _priced(
    request: RankRequest, tables: Sequence[AnswerTable], references: AnswerTable | None, caller: Caller
) -> tuple[Prepared, Mapping[str, Any]]:
    asked = (request, tuple(map(id, tables)), id(references))
    kept = st.session_state.get(PRICED)
    if kept is None or kept[0] != asked:
        with st.spinner("Working out what it costs …"):
            kept = (asked, arena().new_boards.price(request, tables, references, caller=caller))
        st.session_state[PRICED] = kept
    priced: tuple[Prepared, Mapping[str, Any]] = kept[1]
    return priced


def show_running(name: str, caller: Caller) -> None:
    """Show a ranking's progress and its systems' standing; its board once it is published."""
    round_, job = arena().new_boards.watch(name, caller=caller)
    if round_.state is RoundState.PUBLISHED:
        st.success("The board is there.", icon=":material/check_circle:")
        paragraph(anchor("Open the board", "", board=name))
        paragraph(anchor("Make another board", "rank"))
        return
    heading("Comparing answers", anchor="running")
    if job is not None and job.job.error:
        st.error(without_commands(job.job.error) or "The work failed.", icon=":material/error:")
        paragraph(anchor("Correct it, and start again", "rank"))
    elif job is not None:
        show_work(job)
    standing = arena().new_boards.standing(name, caller=caller)
    note(standing.sentence)
    grid(
        ("System", "Share of the wins", "Questions"),
        [(one.system, percent(one.score), f"{one.questions:,}") for one in standing.systems],
        caption="So far",
    )
