"""A team's submissions: where each stands, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.identity import Caller, may
from arena.services.lives import Life
from arena.services.submission_views import SubmissionLine, SubmissionView
from arena.services.visibility import Sight
from arena.web.choices import choose_one
from arena.web.figures import percent
from arena.web.life_texts import attempt_of, moment, next_of, queue_of, title_of
from arena.web.markup import element, put
from arena.web.pieces import note, strip
from arena.web.submission_actions import show_actions
from arena.web.tables import link, plain_table
from arena.web.wiring import arena
from data.records import SubmissionState, TokenScope

LOOKS_EVERY = "5s"
"""While something is queued, its line is read anew so often."""
REPORTED = (SubmissionState.PUBLISHED, SubmissionState.JUDGED)


def show_submissions(team: str, caller: Caller) -> None:
    """List the team's submissions, and show the one of the address with what can be done."""
    lines = _lines(team, caller)
    if not lines:
        start = element(
            "a",
            "Submit a file of answers",
            href=link("submit", team=team),
            target="_self",
            class_="aa-button",
        )
        note("Nothing was submitted yet. Start from the sample file: it takes a minute.")
        put(start)
        return
    waits = any(line.life.state is SubmissionState.QUEUED for line in lines)
    st.fragment(_show_table, run_every=LOOKS_EVERY if waits else None)(team, caller)
    titles = {str(line.submission.id): title_of(line.submission) for line in lines}
    number = choose_one("id", "Submission", titles)
    _show_one(arena().submissions.view(int(number), caller=caller), caller)


def _lines(team: str, caller: Caller) -> Sequence[SubmissionLine]:
    """The newest first."""
    return arena().submissions.find(team=team, caller=caller)[::-1]


def _show_table(team: str, caller: Caller) -> None:
    heads = [
        element("th", name, scope="col", class_=classes)
        for name, classes in (
            ("System", "aa-left"),
            ("State", "aa-left"),
            ("Queue", ""),
            ("Judged by", "aa-second"),
            ("Attempt", "aa-left aa-second"),
            ("Submitted", "aa-second"),
        )
    ]
    rows = [_row(line) for line in _lines(team, caller)]
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="aa-board",
        id="submissions",
    )
    put(element("div", table, class_="aa-wrap"))


def _row(line: SubmissionLine) -> Element:
    one, life = line.submission, line.life
    name = element("a", one.system, href=link("team", team=one.team, id=str(one.id)), target="_self")
    cell = element("th", name, scope="row")
    for text, shown in (("chosen", one.selected), ("anonymous", one.anonymous and not life.published)):
        if shown:
            cell.append(element("span", text, class_="aa-flag"))
    cell.append(
        element("span", f"version {one.version} · {one.set_name} · submission {one.id}", class_="aa-sub")
    )
    state = element("span", life.state.value, class_=f"aa-state aa-state-{life.state.value}")
    return element(
        "tr",
        cell,
        element("td", state, class_="aa-left"),
        element("td", queue_of(life)),
        element("td", moment(life.eta), class_="aa-second"),
        element("td", attempt_of(life), class_="aa-left aa-second"),
        element("td", moment(one.created_at), class_="aa-second"),
    )


def _show_one(view: SubmissionView, caller: Caller) -> None:
    one, life = view.submission, view.life
    st.subheader(f"{one.system}, version {one.version}", anchor="submission")
    note(next_of(one, life))
    strip(
        (
            ("state", life.state.value),
            *(_queue(life) if life.position is not None else ()),
            ("attempt", attempt_of(life)),
            ("counts against the quota", "yes" if life.charged else "no"),
            ("answers", f"{one.answers:,}"),
        )
    )
    if life.state in REPORTED and (life.published or caller.organiser):
        place = link("report", id=str(one.id))
        put(element("p", element("a", "Read its report", href=place, target="_self", class_="aa-button")))
    if may(caller, TokenScope.SUBMIT, team=one.team):
        show_actions(one, life, caller)
    if view.sight is Sight.FULL:
        _show_content(view)


def _queue(life: Life) -> tuple[tuple[str, str], ...]:
    done = moment(life.eta) if life.eta else "not known before judging begins"
    return (("place in the queue", queue_of(life)), ("judged by, about", done))


def _show_content(view: SubmissionView) -> None:
    with st.expander("Coverage and card", icon=":material/pie_chart:"):
        rows = [
            (domain, percent(share), percent(view.no_answer_share.get(domain)))
            for domain, share in view.coverage.items()
        ]
        put(plain_table(("Domain", "Answered", "Found no answer"), rows))
        written = {name: text for name, text in asdict(view.submission.card).items() if text}
        st.text("\n".join(f"{name}: {text}" for name, text in written.items()) or "There is no system card.")
