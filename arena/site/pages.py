"""Registry of the site's pages: address, title, menu, access and module."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from data.errors import ArenaError, SpecError
from data.plugins import PluginEntries, PluginKind, describe_error, plugin_entries

if TYPE_CHECKING:
    from arena.services.accounts.auth import Caller


def _labels(caller: "Caller") -> bool:
    from arena.site.services import arena  # noqa: PLC0415 - documents are made without it

    return bool(arena().labels.open_to(caller))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the site.

    `module` (below `arena.site`) or the function `show` renders it. `menu` is empty for a page outside of
    menus, and None for a page that is only reached by its address.
    """

    name: str
    title: str
    module: str = ""
    show: Callable[[], None] | None = None
    menu: str | None = None
    offered: "Callable[[Caller], bool]" = lambda _caller: True

    def load(self) -> ModuleType:
        """Import its module."""
        return import_module(f".{self.module}", __package__)

    def run(self) -> None:
        """Show it."""
        if self.show is None:
            self.load().show()
            return
        from arena.site.ui.messages import PageEndedError  # noqa: PLC0415 - loads Streamlit

        try:
            self.show()
        except (ArenaError, PageEndedError):
            raise
        except Exception as error:
            message = f"The plugin page {self.name} failed: {describe_error(error)}."
            raise SpecError(message, advice="Report it to the operator of this arena.") from error


MORE, ORGANISE = "More", "Organise"
_organised = partial(Page, menu=ORGANISE, offered=lambda caller: caller.organiser)
OWN = (
    Page(name="", title="Board", module="boards.leaderboard_page", menu=""),
    Page(name="questions", title="Questions", module="questions.list_page", menu=""),
    Page(name="trust", title="Trust and method", module="boards.trust_page", menu=""),
    Page(name="data", title="Data", module="boards.data_page", menu=""),
    Page(name="submit", title="Submit", module="teams.submit_page", menu=""),
    Page(name="compare", title="Compare", module="compare.compare_page"),
    Page(name="matrix", title="Head to head", module="boards.matrix_page"),
    Page(name="retrieval", title="Retrieval", module="retrieval_page", menu=MORE),
    Page(name="rounds", title="Rounds", module="boards.history_page", menu=MORE),
    Page(name="methodology", title="Method in full", module="boards.methodology_page"),
    Page(name="team", title="My team", module="teams.team_page", menu=MORE),
    Page(name="about", title="About", module="about_page", menu=MORE),
    Page(name="label", title="Label pairs", module="labels_page", menu=MORE, offered=_labels),
    _organised(name="rank", title="New board", module="ranking.rank_page"),
    _organised(name="admin", title="Overview", module="admin.overview_page"),
    _organised(name="admin-rounds", title="Organise rounds", module="admin.rounds_page"),
    _organised(name="admin-data", title="Organise sets", module="admin.question_sets_page"),
    _organised(name="admin-judges", title="Judges", module="admin.judges_page"),
    _organised(name="admin-people", title="People", module="admin.people_page"),
    Page(name="system", title="System", module="systems.system_page"),
    Page(name="question", title="Question", module="questions.question_page"),
    Page(name="invite", title="Join a team", module="teams.invite_page"),
)


def added_pages() -> PluginEntries[Page]:
    """Return the pages of plugins."""
    return plugin_entries(PluginKind.PAGES, Page, [page.name for page in OWN])


def pages() -> Mapping[str, Page]:
    """Return all pages by address, in the order of the navigation; pages of plugins last."""
    return {page.name: page for page in (*OWN, *added_pages().entries)}


def _is_offered(page: Page, caller: "Caller") -> bool:
    try:
        return page.offered(caller)
    except ArenaError:
        # If the database fails, the open page reports it.
        return False


def menus(caller: "Caller") -> Mapping[str, list[Page]]:
    """Build the navigation for a visitor: menus with their pages; the first group has no menu."""
    groups: dict[str, list[Page]] = {}
    for page in pages().values():
        if page.menu is not None and _is_offered(page, caller):
            groups.setdefault(page.menu, []).append(page)
    return groups
