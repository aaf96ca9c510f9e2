"""Submit page: choose a set, check and correct a file, describe the system, confirm."""

from arena.site.auth import choose_team, show_visitor
from arena.site.services import arena
from arena.site.teams.file_check import show_check, take_file
from arena.site.teams.open_sets import choose_set, show_open_set, show_other_ways, starter_files
from arena.site.teams.submission_form import offer_submission, show_outcome
from arena.site.ui.html import lead, name_page, page_heading


def show() -> None:
    """Take an answer file."""
    page_heading("Submit")
    lead("Upload an answer file. It is checked first, and submitted when you confirm.")
    caller = show_visitor("check and submit a file")
    open_set = choose_set()
    if open_set is None:
        return
    name_page("Submit", open_set.summary.title or open_set.name)
    team = choose_team(caller) if caller.signed_in else None
    quota = arena().submissions.quota(open_set.name, team, caller=caller) if team else None
    show_open_set(open_set, quota)
    starter_files(open_set)
    if team is not None and quota is not None:
        checked = take_file(open_set, caller)
        if checked is not None:
            show_check(open_set, checked.result)
            if checked.result.accepted:
                offer_submission(open_set, checked, team, quota, caller)
        show_outcome()
    show_other_ways(open_set)
