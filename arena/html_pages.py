"""Pages from the package's templates, with autoescape."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.environment import TemplateModule
from markupsafe import Markup

from arena.version import own_version

PARTS = "parts.html"
"""Macros of all pages, available in templates as `ui`."""


def rendered(template: str, **values: object) -> str:
    """Render a template."""
    return _environment().get_template(template).render(values)


def macro(name: str, *args: object, of: str = PARTS, **options: object) -> Markup:
    """Return the HTML of a macro, by default of all pages' macros."""
    html: Markup = getattr(_macros(of), name)(*args, **options)
    return html


@dataclass(frozen=True, slots=True)
class Parts:
    """Page template with its values, rendered block by block."""

    template: str
    values: Mapping[str, Any]

    def part(self, block: str) -> str:
        """Return the HTML of a block."""
        template = _environment().get_template(self.template)
        return unbroken("".join(template.blocks[block](template.new_context(dict(self.values)))))


def unbroken(html: str) -> str:
    """Keep the per cent sign on the same line as its number."""
    return html.replace(" %", "\u00a0%")


@cache
def _macros(template: str) -> TemplateModule:
    return _environment().get_template(template).module


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
    environment.globals["version"] = own_version()
    environment.globals["ui"] = environment.get_template(PARTS).module
    return environment
