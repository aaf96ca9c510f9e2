"""Pages of the site in Streamlit's test runner, without a server or a browser."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from arena.settings import Settings
from arena.site.services import as_secrets


def _script(name: str) -> None:
    import importlib  # noqa: PLC0415 - AppTest runs this function as a script of its own

    from arena.site.ui.messages import guarded  # noqa: PLC0415 - as above

    guarded(importlib.import_module(f"arena.site.{name}").show)


def page_of(settings: Settings, name: str, **query: str) -> AppTest:
    """Return the page of a module of `arena.site` at an address, ready to run."""
    page = AppTest.from_function(_script, args=(name,), default_timeout=60)
    page.secrets.update({key: dict(value) for key, value in as_secrets(settings).items()})
    page.query_params.update(query)
    return page


def html_of(page: AppTest) -> str:
    """Return the HTML of a page, with plain spaces before per cent signs."""
    return "".join(element.proto.body for element in page.get("html")).replace("\u00a0%", " %")
