"""Whole pages from the templates beside this module.

They escape every text that is put into them, but style sheets of ours and what `arena.site.ui.markup` made.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined


def rendered(template: str, **values: object) -> str:
    """The page of a template."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("arena"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["version"] = release()
    return environment


@cache
def release() -> str:
    """The version of the arena that is installed."""
    return version("answer-arena")
