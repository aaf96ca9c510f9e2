"""New board: upload files, check how they were read and the cost, then watch a worker judge them."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.ranking.new_boards import without_commands
from arena.services.ranking.requests import RankRequest
from arena.services.ranking.service import Prepared
from arena.site.admin.common import grid, organiser, refreshing, show_work, usd
from arena.site.admin.judges_page import show_newest
from arena.site.ranking.files import read_files
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
    """Show the steps from files to a board, or the progress of the ranking in the address."""
    caller = organiser()
    page_heading("New board")
    started = st.query_params.get("ranking")
    if started:
        refreshing(show_running, started, caller)
        return
    lead("Drop answer files. You see how they were read and the cost before judging starts.")
    files = choose_files("Answer files", key="rank-files", advice="One file per system, or one for all.")
    with st.expander("References or passages in a separate file"):
        reference_files = choose_files("References", key="rank-references")
    tables = read_files(files) if files else None
    references = read_files(reference_files[:1], answers=False) if reference_files else []
    if not tables or references is None:
        return
    request, key = _ask(tables, references, caller)
    if request is not None:
        _offer(request, tables, references[0] if references else None, key, caller)


def _ask(
    tables: Sequence[AnswerTable], references: Sequence[AnswerTable], caller: Caller
) -> tuple[RankRequest | None, str]:
    heading("Judge", anchor="judge")
    rows = [row for table in (*tables, *references) for rows in table.systems.values() for row in rows]
    has_truth = any(row.reference or row.contexts for row in rows) or bool(references)
    names = [info.name for info in arena().judges.known() if not info.problem]
    judge = st.selectbox(
        "Judge or model",
        names,
        index=names.index(EMBEDDED) if has_truth and EMBEDDED in names else None,
        placeholder="gpt-5-mini, llama3.1, …",
        accept_new_options=True,
        help="Name of a judge or of a model. The judge lexical needs references or passages, but no model.",
    )
    if judge == EMBEDDED:
        return RankRequest(judge=judge, afresh=True), ""
    endpoint = st.text_input("Endpoint", placeholder=arena().settings.endpoint, key="rank-endpoint").strip()
    source = "from the environment" if arena().settings.has_key else "none is set"
    key = st.text_input(
        "Key, for this run only", type="password", placeholder=source, key="rank-key", autocomplete="off"
    )
    cap = st.number_input("Spending limit in USD", 0.0, value=None, placeholder="no cap", key="rank-cap")
    if not judge:
        note("Choose a judge, or enter a model.")
        return None, ""
    if st.button("Test", icon=":material/experiment:"):
        _test(judge, endpoint, key, caller)
    if st.session_state.get(TESTED):
        refreshing(show_newest)
    return RankRequest(judge=judge, endpoint=endpoint, budget_usd=cap, afresh=True), key


def _test(judge: str, endpoint: str, key: str, caller: Caller) -> None:
    st.session_state[TESTED] = not (endpoint or key)
    try:
        trial = arena().new_boards.test(judge, endpoint=endpoint, key=key, caller=caller)
    except ArenaError as error:
        show_error(error)
        return
    if trial is not None:
        (st.success if trial.passed else st.warning)(trial.sentence)


def _offer(
    request: RankRequest,
    tables: Sequence[AnswerTable],
    references: AnswerTable | None,
    key: str,
    caller: Caller,
) -> None:
    heading("Cost", anchor="cost")
    try:
        prepared, plan = _price(request, tables, references, caller)
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
        attempt(start, "The ranking is waiting for a worker.", "rank")


def _price(
    request: RankRequest, tables: Sequence[AnswerTable], references: AnswerTable | None, caller: Caller
) -> tuple[Prepared, Mapping[str, Any]]:
    inputs = (request, tuple(map(id, tables)), id(references))
    cached = st.session_state.get(PRICED)
    if cached is None or cached[0] != inputs:
        with st.spinner("Estimating the cost …"):
            cached = (inputs, arena().new_boards.price(request, tables, references, caller=caller))
        st.session_state[PRICED] = cached
    estimate: tuple[Prepared, Mapping[str, Any]] = cached[1]
    return estimate


def show_running(name: str, caller: Caller) -> None:
    """Show a ranking's progress and standings, or a link to its published board."""
    round_, job = arena().new_boards.watch(name, caller=caller)
    if round_.state is RoundState.PUBLISHED:
        st.success("The board is ready.", icon=":material/check_circle:")
        paragraph(anchor("Open the board", "", board=name))
        paragraph(anchor("Create another board", "rank"))
        return
    heading("Comparing answers", anchor="running")
    if job is not None and job.job.error:
        st.error(without_commands(job.job.error) or "The job failed.", icon=":material/error:")
        paragraph(anchor("Fix it and start again", "rank"))
    elif job is not None:
        show_work(job)
    standing = arena().new_boards.standing(name, caller=caller)
    note(standing.sentence)
    grid(
        ("System", "Win share", "Questions"),
        [(row.system, percent(row.score), f"{row.questions:,}") for row in standing.systems],
        caption="So far",
    )
