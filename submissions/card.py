"""System cards: facts on a system, reported by its team as YAML, and their template."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

import yaml

from data.errors import InvalidFileError
from data.files.text_files import ReadLimits, read_text
from data.models import Problem, ProblemList, SystemCard
from data.system_names import is_release, parameters_of, weights_of

FIELDS = tuple(field.name for field in fields(SystemCard))
MAX_LENGTH = 200
MAX_NOTES = 2_000
"""Maximum characters of a field, and of `notes`."""

_LIMITS = ReadLimits(file_bytes=64 * 1024, line_bytes=64 * 1024)
_TEXT = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
# YAML types of unquoted values that fields accept besides text.
_UNQUOTED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "open_weights": frozenset({"tag:yaml.org,2002:bool"}),
        "parameters": frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}),
        "released": frozenset({"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int"}),
    }
)

CARD_TEMPLATE = """\
# Every field is optional. Numbers need quotes.
model: ""         # the LLM that writes the answers
retriever: ""     # what finds the passages
passages: ""      # how many, and from where
organisation: ""
licence: ""
link: ""          # https://…
contact: ""
notes: ""
open_weights: ""  # yes or no
parameters: ""    # how many in all, such as 70B
released: ""      # 2026-05-01, 2026-05 or 2026
"""


CardCheck = tuple[SystemCard | None, tuple[Problem, ...]]


def load_card(path: Path, check: Callable[[str], CardCheck] | None = None) -> SystemCard:
    """Read a card file. Every field is an optional string."""
    card, problems = (check or check_card)(read_text(path, _LIMITS))
    if card is None:
        count = f"{len(problems)} {'problem' if len(problems) == 1 else 'problems'}"
        raise InvalidFileError(f"{path.name} has {count}.", problems, advice="Correct the card.")
    return card


def check_card(text: str) -> CardCheck:
    """Parse a card from YAML text; return None and the problems of an invalid card."""
    problems = ProblemList()
    if len(text) > _LIMITS.file_bytes:
        message = f"The card has {len(text):,} characters; {_LIMITS.file_bytes:,} are allowed."
        problems.add(0, "too-large", message, advice=f"Use only these fields: {', '.join(FIELDS)}.")
        return None, problems.result()
    try:
        # Nodes have lines and types, and no value is constructed from a tag.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 0
        problems.add(line, "bad-yaml", f"Invalid YAML: {error.problem}.", advice="Correct it there.")
        return None, problems.result()
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else f"{error}"
        message = f"Invalid YAML: {' '.join(reason.split())[:200]}."
        problems.add(0, "bad-yaml", message, advice="Write one line per field, such as model: name.")
        return None, problems.result()
    values = _values(root, problems)
    for name, (line, value) in values.items():
        _check_value(name, line, value, problems)
    if problems.errors:
        return None, problems.result()
    return SystemCard(**_normalised({name: value for name, (_, value) in values.items()})), ()


def check_fields(values: Mapping[str, str]) -> tuple[SystemCard | None, Mapping[str, tuple[Problem, ...]]]:
    """Parse a card from the fields of a form; return None and the problems by field if it is invalid."""
    by_field: dict[str, tuple[Problem, ...]] = {}
    stripped = {name: value.strip() for name, value in values.items()}
    for name, value in stripped.items():
        problems = ProblemList()
        if name not in FIELDS:
            problems.add(0, "unknown-field", f"A card has no field {name[:60]!r}.")
        else:
            _check_value(name, 0, value, problems)
        if problems.errors:
            by_field[name] = problems.result()
    return (None if by_field else SystemCard(**_normalised(stripped))), by_field


def _normalised(values: Mapping[str, str]) -> dict[str, str]:
    """Normalise checked values: open weights to `yes` or `no`, the unit of parameters to upper case."""
    normalised = dict(values)
    if value := values.get("open_weights"):
        normalised["open_weights"] = weights_of(value) or ""
    if value := values.get("parameters"):
        normalised["parameters"] = value.replace(" ", "").upper()
    return normalised


def _values(root: yaml.Node | None, problems: ProblemList) -> dict[str, tuple[int, str]]:
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        message = "The card is not a mapping."
        problems.add(1, "wrong-type", message, advice="Write one line per field, such as model: name.")
        return {}
    values: dict[str, tuple[int, str]] = {}
    for key, node in root.value:
        line = key.start_mark.line + 1
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name not in FIELDS:
            message = f"A card has no field {name[:60]!r}."
            problems.add(line, "unknown-field", message, advice=f"Its fields are {', '.join(FIELDS)}.")
        elif name in values:
            problems.add(line, "duplicate-key", f"{name} appears twice.", advice="Keep one of them.")
        elif isinstance(node, yaml.ScalarNode) and node.tag in {_TEXT, _NULL, *_UNQUOTED.get(name, ())}:
            values[name] = (line, "" if node.tag == _NULL else node.value.strip())
        else:
            message = f"{name} is {_kind(node)}, not a string."
            problems.add(line, "wrong-type", message, advice="Write a string; put numbers in quotes.")
            values[name] = (line, "")
    return values


def _check_value(name: str, line: int, value: str, problems: ProblemList) -> None:
    longest = MAX_NOTES if name == "notes" else MAX_LENGTH
    if len(value) > longest:
        message = f"{name} has {len(value):,} characters; {longest:,} are allowed."
        problems.add(line, "too-long", message, advice="Shorten it.")
    if any(not character.isprintable() and character != "\n" for character in value):
        problems.add(line, "control-characters", f"{name} has control characters.", advice="Remove them.")
    if name == "link" and value and not _is_web_address(value):
        message = "The link is not a web address."
        problems.add(line, "bad-link", message, advice="Start it with https:// or http://.")
    if name in FORMS and value and not FORMS[name][0](value):
        message = f"{name} is {value[:60]!r}, which is not valid."
        problems.add(line, "bad-value", message, advice=FORMS[name][1])


FORMS: Mapping[str, tuple[Callable[[str], object], str]] = MappingProxyType(
    {
        "open_weights": (weights_of, "Write yes or no."),
        "parameters": (parameters_of, "Write the total number: 70B, 7.5B, 300M or 124000000."),
        "released": (is_release, "Write a day, month or year: 2026-05-01, 2026-05 or 2026."),
    }
)


def _is_web_address(value: str) -> bool:
    if any(character.isspace() or character in "<>\"'`\\" for character in value):
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        return False


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else f"a {node.tag.rsplit(':', 1)[-1]}"
