"""About page: operator, documentation, licences and privacy."""

from datetime import timedelta
from urllib.parse import urlsplit

import streamlit as st

from arena.services.accounts.auth import SESSION_LIFETIME, WINDOW_MINUTES
from arena.site.services import arena
from arena.site.ui import html
from arena.version import own_version

SUMMARY = (
    "Systems answer the same questions at length. A judge compares their answers in pairs; the verdicts "
    "become ratings with intervals."
)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
NO_CONTACT = "No contact is listed. Ask the person who sent you the link."
STORED_DATA = (
    (
        "Reading the pages",
        "No analytics. The cookie _streamlit_xsrf protects forms; arena_begun is set while a board opens.",
        "until the browser is closed",
    ),
    (
        "Signing in",
        "A cookie (arena_session, stored as a hash), and when your token was last used.",
        f"{SESSION_LIFETIME // HOUR} hours at most, or until you sign out",
    ),
    (
        "Signing in with a wrong token",
        "The number of attempts by network address, in memory only.",
        f"{WINDOW_MINUTES} minutes",
    ),
    (
        "Labelling pairs",
        "Your labels, their times, the side shown first, and your account's name or a hash of a random code.",
        "as long as the round exists",
    ),
    (
        "Working in a team, or organising",
        "Account, email address if given, files, and a log entry for every change.",
        "until deleted; the log for as long as the operator keeps it",
    ),
    (
        "Using the API",
        "The number of requests by token or network address, in memory only.",
        "an hour at most",
    ),
)


def show() -> None:
    """Show the page."""
    settings = arena().settings
    html.page_heading("About")
    html.lead(SUMMARY)
    html.heading("Contact", anchor="contact")
    if settings.operator:
        st.text(f"Run by {settings.operator}.")
    _text_or_link(settings.contact or NO_CONTACT)
    html.heading("Documentation", anchor="documentation")
    html.put("bullets", [(link, f": {about}") for link, about in _documents(settings.docs_url)])
    html.heading("Licence and version", anchor="licence")
    html.note(f"Answer Arena {own_version()} is free software under the Apache License 2.0.")
    rows = [
        (row.title, row.version or "–", row.licence or "not stated", row.source or "not stated")
        for row in arena().sets.summaries()
    ]
    if rows:
        header = ("Question set", "Version", "Licence", "Source")
        html.put_html(html.words_table(header, rows, caption="Licences of the question sets"))
    html.heading("Privacy", anchor="privacy")
    html.note("What this site stores about you depends on what you do here.")
    html.put_html(html.words_table(("What you do", "What is stored", "For how long"), STORED_DATA))
    html.note("The operator's proxy may keep its own log.")
    if settings.privacy:
        _text_or_link(settings.privacy)


def _documents(docs_url: str) -> list[tuple[html.Child, str]]:
    guides = html.Cell("Documentation", href=docs_url, target="_blank")
    return [
        *([(guides, "guides for teams, organisers, annotators and operators")] if docs_url else []),
        (html.anchor("Method in full", "methodology"), "how verdicts are made, and what the numbers mean"),
        (html.anchor("Data", "data"), "files of every board, their fields, and citations"),
        (html.anchor("API", "api/v1/"), "all routes, parameters and responses"),
        (html.anchor("Submit", "submit"), "the format of answer files, with a sample"),
    ]


def _text_or_link(text: str) -> None:
    if urlsplit(text).scheme == "https":
        html.paragraph(html.Cell(text, href=text, target="_blank"))
    elif "@" in text and " " not in text:
        html.paragraph(html.Cell(text, href=f"mailto:{text}"))
    else:
        st.text(text)
