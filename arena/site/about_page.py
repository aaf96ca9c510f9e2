"""Page about the operator, documentation, licences, and stored data about visitors."""

from datetime import timedelta
from urllib.parse import urlsplit

import streamlit as st

from arena import own_version
from arena.services.accounts.auth import LASTS, WINDOW_MINUTES
from arena.site.services import arena
from arena.site.ui import html

WHAT = (
    "Systems answer the same questions at length. A judge compares their answers in pairs, and the verdicts "
    "become ratings with intervals."
)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
NOBODY = "The operator of this site has not named a contact. Ask whoever gave you its address."
STORED = (
    (
        "Reading the pages",
        (
            "Nothing. No statistics are collected, and no page loads anything from another site. A cookie of "
            "the web server (_streamlit_xsrf) protects its forms."
        ),
        "until the browser is closed",
    ),
    (
        "Signing in",
        "A cookie (arena_session), of which the sha256 is stored, and when your token was last used.",
        f"{LASTS // HOUR} hours at most, or until you sign out",
    ),
    (
        "Signing in with a wrong token",
        "How often, in memory, under your network address.",
        f"{WINDOW_MINUTES} minutes",
    ),
    (
        "Labelling pairs",
        (
            "Your labels with their times and the side shown first, and your account's name, or a hash of a "
            "random word of your visit."
        ),
        "stays with the round",
    ),
    (
        "Working in a team, or organising",
        "Account, mail address where one is given, files, and a line in the log for every change.",
        "stays; of the log, as long as the operator keeps it",
    ),
    ("Using the API", "How often, in memory, under your token or network address.", "an hour at most"),
)


def show() -> None:
    """Show the page."""
    settings = arena().settings
    html.page_heading("About")
    html.lead(WHAT)
    html.heading("Contact", anchor="contact")
    if settings.operator:
        st.text(f"Run by {settings.operator}.")
    _text_or_link(settings.contact or NOBODY)
    html.heading("Documentation", anchor="documentation")
    html.put("bullets", [(link, f": {about}") for link, about in _documents(settings.docs_url)])
    html.heading("Licence and version", anchor="licence")
    html.note(f"Answer Arena {own_version()} is free software under the Apache License 2.0.")
    rows = [
        (one.title, one.version or "–", one.licence or "not stated", one.source or "not stated")
        for one in arena().sets.summaries()
    ]
    if rows:
        header = ("Question set", "Version", "Licence", "Source")
        html.put_html(html.words_table(header, rows, caption="Licences of the question sets"))
    html.heading("Privacy", anchor="privacy")
    html.note("What this site stores about you depends on what you do here.")
    html.put_html(html.words_table(("What you do", "What is stored", "For how long"), STORED))
    html.note("A proxy that the operator puts in front of the site may keep a log of its own.")
    if settings.privacy:
        _text_or_link(settings.privacy)


def _documents(docs_url: str) -> list[tuple[html.Child, str]]:
    guides = html.Cell("Documentation", href=docs_url, target="_blank")
    return [
        *([(guides, "guides for teams, organisers, annotators and operators")] if docs_url else []),
        (
            html.anchor("Method in full", "methodology"),
            "how a verdict comes about, and what the numbers mean",
        ),
        (html.anchor("Data", "data"), "files of every board, with their fields, and how to cite them"),
        (html.anchor("API", "api/v1/"), "every address, its parameters and answers"),
        (html.anchor("Submit", "submit"), "the format of a file of answers, with a sample"),
    ]


def _text_or_link(text: str) -> None:
    if urlsplit(text).scheme == "https":
        html.paragraph(html.Cell(text, href=text, target="_blank"))
    elif "@" in text and " " not in text:
        html.paragraph(html.Cell(text, href=f"mailto:{text}"))
    else:
        st.text(text)
