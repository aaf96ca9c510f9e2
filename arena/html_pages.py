"""Pages and their parts from the templates beside this module.

They escape every text that is put into them, but style sheets of ours. The filter `html` puts elements in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any
from xml.etree.ElementTree import Element, tostring

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

PARTS = "parts.html"
"""The macros of all pages, which templates call as `ui`."""


def rendered(template: str, **values: object) -> str:
    """Return the page of a template."""
    return _environment().get_template(template).render(values)


def macro(name: str, *args: object, **options: object) -> str:
    """Render a macro of the shared page templates."""
    return str(getattr(_environment().globals["ui"], name)(*args, **options))


@dataclass(frozen=True, slots=True)
class Parts:
    """A page as a template and its values: put in block by block."""

    template: str
    values: Mapping[str, Any]

    def part(self, block: str) -> str:
        """Return the HTML of a block."""
        template = _environment().get_template(self.template)
        return "".join(template.blocks[block](template.new_context(dict(self.values))))


def as_html(root: Element) -> str:
    """Return the element as HTML, every text and attribute escaped."""
    return tostring(root, encoding="unicode", method="html")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["html"] = lambda root: Markup(as_html(root))  # noqa: S704 - `as_html` escapes
    environment.globals["version"] = release()
    environment.globals["ui"] = environment.get_template(PARTS).module
    return environment


@cache
def release() -> str:
    """Return the version of the arena that is installed."""
    return version("answer-arena")
