"""Load judge specs by name and build their judges."""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.errors import ConflictError, NotFoundError, SpecError
from data.models import GroundTruth, JudgeKind
from data.plugins import GIVEN, PluginKind, find_plugins
from judges.base import HERE, Judge, TextWork
from judges.pairwise.prompt import load_prompt
from judges.spec import STORED_KEY, JudgeSpec, ReplyFormat, make_spec

if TYPE_CHECKING:
    # Judges are imported where they are built, because listing commands read specs only.
    from judges.llm.requests import LlmClient
    from judges.pairwise.llm_judge import PairwiseJudge

SUFFIX = ".toml"
PATHS = "/\\:\0"
MAX_NAME = 100
PROMPTS = {
    GroundTruth.NONE: "pairwise",
    GroundTruth.REFERENCE: "pairwise-reference",
    GroundTruth.PASSAGES: "pairwise-passages",
}
"""Default prompts of LLM judges by ground truth."""
RENAMED = {STORED_KEY: "ground_truth"}
"""Keys of older files and their current names."""
GRADED_PROMPTS = {GroundTruth.NONE: "pairwise-grades"}
"""Default prompts for replies that are grades."""
FUNCTION = re.compile(rf"^{GIVEN}|\.py:\w+$")
SAMPLING_KEYS = ("temperature", "top_p", "max_tokens", "seed")


@dataclass(frozen=True, slots=True)
class _File:
    """Values of a spec file and the folder for its relative paths."""

    values: Mapping[str, Any]
    folder: Path


def already_exists(path: Path) -> ConflictError:
    """Return the error for a spec whose file already exists."""
    message = f"The file {path} already exists."
    return ConflictError(message, advice="Rounds may depend on it: choose another name.")


def load_spec(name: str, *, folders: Sequence[Path] = ()) -> JudgeSpec:
    """Load a judge spec by file path, by name or by Python function.

    Args:
        name: A path (it ends in `.toml`), `FILE.py:FUNCTION`, or the name of a spec in `folders`, of a
            bundled one, or of a function that a plugin adds.
        folders: Where to look before the bundled specs.
    """
    if FUNCTION.search(name):
        return make_spec(import_module(".function", __package__).function_values(name))
    file = _find(name, folders)
    stem = Path(name).stem if name.endswith(SUFFIX) else name
    return make_spec(_with_prompt(_resolve(file, stem, folders, ())))


def require_registered(*names: str) -> None:
    """Refuse paths and functions: only local users may name files."""
    for name in names:
        if name.endswith(SUFFIX) or FUNCTION.search(name) or not frozenset(PATHS).isdisjoint(name):
            raise NotFoundError(f"Unknown judge {name[:MAX_NAME]!r}.", advice="See `arena judges list`.")


def source_of(name: str, spec: JudgeSpec) -> str:
    """Return a reference to the judge that works from another working directory."""
    return spec.function if FUNCTION.search(name) else name


def spec_names(*, folders: Sequence[Path] = ()) -> tuple[str, ...]:
    """List all judge names: custom specs first, then bundled specs, then plugins."""
    custom = [
        path.stem for folder in folders if folder.is_dir() for path in sorted(folder.glob(f"*{SUFFIX}"))
    ]
    added = [plugin.name for plugin in find_plugins(PluginKind.JUDGES).plugins]
    return tuple(dict.fromkeys([*custom, *sorted(_bundled()), *added]))


def _bundled() -> Iterator[str]:
    for entry in (files(__package__) / "specs").iterdir():
        if entry.name.endswith(SUFFIX):
            yield entry.name.removesuffix(SUFFIX)


def _find(name: str, folders: Sequence[Path]) -> _File:
    if name.endswith(SUFFIX):
        return _read(Path(name))
    for folder in folders:
        if "/" not in name and (folder / f"{name}{SUFFIX}").is_file():
            return _read(folder / f"{name}{SUFFIX}")
    if name in set(_bundled()):
        with as_file(files(__package__) / "specs" / f"{name}{SUFFIX}") as path:
            return _read(path)
    added = find_plugins(PluginKind.JUDGES)
    for plugin in added.plugins:
        if plugin.name == name:
            return _File({"kind": JudgeKind.FUNCTION, "function": plugin.reference}, Path())
    names = spec_names(folders=folders)
    suggestions = difflib.get_close_matches(name, names, n=1)
    message = f"Unknown judge {name!r}."
    hint = f"Did you mean {suggestions[0]!r}? " if suggestions else ""
    advice = f"{hint}Use the path of a .toml file, FILE.py:FUNCTION, or one of: {', '.join(names)}."
    raise NotFoundError(message, advice=" ".join((advice, *added.problems)))


def _read(path: Path) -> _File:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"Judge spec {path} cannot be read: {error}."
        raise SpecError(message, advice="Check the path, and save it as UTF-8 text.") from error
    try:
        return _File(tomllib.loads(text), path.parent)
    except tomllib.TOMLDecodeError as error:
        message = f"Judge spec {path} is not valid TOML: {error}."
        raise SpecError(message, advice="Correct that line; docs/judges.md has examples.") from error


def _resolve(source: _File, name: str, folders: Sequence[Path], ancestors: tuple[str, ...]) -> dict[str, Any]:
    values = {"name": name, **_flat(source.values, name)}
    if isinstance(place := values.get("function"), str):
        reference = str(source.folder / place) if FUNCTION.search(place) else place
        values |= import_module(".function", __package__).function_values(reference, str(values["name"]))
    if "prompt" in values:
        if not isinstance(values["prompt"], str):
            message = f"Judge spec {name}: 'prompt' must be the name of a prompt."
            raise SpecError(message, advice='Write prompt = "pairwise".')
        values["prompt"] = load_prompt(values["prompt"], folder=source.folder)
    if "members" in values:
        values["members"] = _members(values["members"], name, source.folder, folders, ancestors)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    base = dict(_parent(parent, name, source.folder, folders, ancestors))
    return {**base, **values}


def _with_prompt(values: Mapping[str, Any]) -> Mapping[str, Any]:
    if values.get("kind") != JudgeKind.LLM or "prompt" in values:
        return values
    prompts = GRADED_PROMPTS if values.get("reply") == ReplyFormat.GRADES else PROMPTS
    name = prompts.get(values.get("ground_truth", GroundTruth.NONE))
    return values if name is None else {**values, "prompt": load_prompt(name)}


def _parent(
    parent: object, name: str, folder: Path, folders: Sequence[Path], ancestors: tuple[str, ...]
) -> Mapping[str, Any]:
    if not isinstance(parent, str) or parent in ancestors:
        message = f"Judge spec {name} extends {parent!r}, which is not another judge's name."
        raise SpecError(message, advice="Use another judge, which must not extend this one.")
    path = str(folder / parent) if parent.endswith(SUFFIX) else parent
    return _resolve(
        _find(path, folders),
        Path(parent).stem if parent.endswith(SUFFIX) else parent,
        folders,
        (*ancestors, parent),
    )


def _flat(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = values.get("sampling", {})
    flat = {RENAMED.get(key, key): value for key, value in values.items() if key != "sampling"}
    odd = sorted(set(table) - set(SAMPLING_KEYS)) if isinstance(table, dict) else ["sampling"]
    twice = sorted(set(flat) & set(table))
    if odd or twice:
        problem = f"unknown key {odd[0]!r} in [sampling]" if odd else f"{twice[0]!r} is set twice"
        message = f"Judge spec {name} is invalid: {problem}."
        raise SpecError(message, advice=f"[sampling] allows {', '.join(SAMPLING_KEYS)}.")
    return {**flat, **table}


def _members(
    entries: object, panel: str, folder: Path, folders: Sequence[Path], ancestors: tuple[str, ...]
) -> tuple[JudgeSpec, ...]:
    if not isinstance(entries, list):
        message = f"Panel {panel}: 'members' must be a list."
        raise SpecError(message, advice='Write members = ["reference-free", …] or [[members]] tables.')
    return tuple(
        _member(entry, f"{panel}.{number}", folder, folders, (*ancestors, panel))
        for number, entry in enumerate(entries, 1)
    )


def _member(
    entry: object, name: str, folder: Path, folders: Sequence[Path], ancestors: tuple[str, ...]
) -> JudgeSpec:
    if isinstance(entry, dict):
        return make_spec(_with_prompt(_resolve(_File(entry, folder), name, folders, ancestors)))
    return make_spec(_with_prompt(_parent(entry, name, folder, folders, ancestors)))


def build_judge(spec: JudgeSpec, *, client: "LlmClient | None" = None, work: TextWork = HERE) -> Judge:
    """Build the judge of a spec."""
    match spec.kind:
        case JudgeKind.LEXICAL:
            judge: Judge = import_module(".lexical", __package__).LexicalJudge(spec, work=work)
            return judge
        case JudgeKind.FUNCTION:
            function_judge: Judge = import_module(".function", __package__).FunctionJudge(spec, work=work)
            return function_judge
        case JudgeKind.PANEL:
            from judges.pairwise.panel import PanelJudge  # noqa: PLC0415 - as above

            return PanelJudge(
                spec, tuple(build_judge(member, client=client, work=work) for member in spec.members)
            )
        case JudgeKind.LLM:
            return _pairwise(spec, client, work)


def _pairwise(spec: JudgeSpec, client: "LlmClient | None", work: TextWork) -> "PairwiseJudge":
    from judges.pairwise.llm_judge import PairwiseJudge  # noqa: PLC0415 - as above

    if client is None or spec.prompt is None:
        message = f"Judge {spec.name} needs an LLM client."
        raise SpecError(message, advice="Pass a client, or use the lexical judge, which needs no network.")
    if not spec.endpoint:
        message = f"Judge {spec.name} has no endpoint."
        raise SpecError(message, advice="Set OPENAI_BASE_URL, or `endpoint` in the judge spec.")
    return PairwiseJudge(spec, spec.prompt, client, work)
