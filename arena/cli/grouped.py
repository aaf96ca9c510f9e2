"""Options that several commands share: a frozen dataclass whose fields are options, and `--json`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, get_type_hints

import typer


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses of options: Typer sees their fields, the command gets the values.

    Args:
        command: A function whose parameters may be such dataclasses, beside plain options.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    plain: list[inspect.Parameter] = []
    options: list[inspect.Parameter] = []
    for name, one in inspect.signature(command).parameters.items():
        if name in groups:
            options.extend(_options_of(groups[name]))
        else:
            (plain if one.kind is one.POSITIONAL_OR_KEYWORD else options).append(
                one.replace(annotation=hints[name], kind=one.KEYWORD_ONLY)
            )

    @wraps(command)
    def taking(**given: object) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **made)

    taking.__dict__["__signature__"] = inspect.Signature([*plain, *options])
    taking.__annotations__ = {one.name: one.annotation for one in (*plain, *options)}
    return taking


def always_json(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command whose result is JSON in any case take `--json` like all others."""
    own = inspect.signature(command, eval_str=True)
    extra = inspect.Parameter(
        "as_json",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[
            bool, typer.Option("--json", help="As without: the result is JSON in any case.")
        ],
        default=False,
    )

    @wraps(command)
    def taking(**given: object) -> None:
        given.pop(extra.name)
        command(**given)

    parameters = [*own.parameters.values(), extra]
    taking.__dict__["__signature__"] = own.replace(parameters=parameters)
    taking.__annotations__ = {one.name: one.annotation for one in parameters}
    return taking


def _options_of(kind: type) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(kind)
    ]
