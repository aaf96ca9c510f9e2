"""Plugins: entry points of installed packages, and Python files of one's own.

An entry point's object, or an attribute of a file (`METRICS`, `JUDGES`, …), is one thing or several, in a
sequence or by name. Nothing is looked up before somebody asks for a kind. What cannot be loaded is a problem
with a name; everything else goes on.
"""

import contextlib
import hashlib
import importlib.util
import inspect
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from data.errors import SpecError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


CODE = "plugin_code"
"""The detail of a score that names the code of the plugin that scored."""


class PluginKind(StrEnum):
    """Kinds of plugins, as the attribute of a file names them."""

    METRICS = "METRICS"
    JUDGES = "JUDGES"
    FORMATS = "FORMATS"
    RETRIEVERS = "RETRIEVERS"
    TRANSPORTS = "TRANSPORTS"
    PAGES = "PAGES"

    @property
    def group(self) -> str:
        """The group of entry points."""
        return f"answer_arena.{self.value.lower()}"

    @property
    def word(self) -> str:
        """Its name in messages."""
        return self.value.lower().removesuffix("s")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin.

    Attributes:
        name: What it is called, where it is given by name or is a function; else empty.
        source: The file or the entry point, for messages.
        reference: Where another process finds it, see `referred`.
        code: The beginning of the hash of the code that it comes with.
    """

    name: str
    value: Any
    source: str
    reference: str
    code: str = ""

    @property
    def called(self) -> str:
        """Its own name, else the name it is registered under."""
        return str(getattr(self.value, "name", "") or self.name)


@dataclass(frozen=True, slots=True)
class Found:
    """Plugins of a kind, with a sentence for each that could not be loaded."""

    plugins: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()


ADDRESS = re.compile(r" at 0x[0-9a-f]+")
GIVEN = "given:"
"""Prefix of references to functions that a program handed over; no other process finds them."""


class Described(Protocol):
    """Protocol of entries registered under a name."""

    @property
    def name(self) -> str:
        """Name for readers."""
        ...


Entry = TypeVar("Entry", bound=Described)


@dataclass(frozen=True, slots=True)
class PluginEntries(Generic[Entry]):
    """Plugins added to a registry, with a sentence for each that is faulty."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """Common part of formats of answers, of battles and of question sets."""

    name: str


@dataclass(slots=True)
class _Chosen:
    """The files of this process, and the functions that it was handed, by their places."""

    files: tuple[Path, ...] = ()
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)


_CHOSEN = _Chosen()


def use_plugin_files(files: Iterable[Path]) -> None:
    """Let these files add to what this process knows, in place of those before."""
    chosen = tuple(dict.fromkeys(Path(file).absolute() for file in files))
    if chosen != _CHOSEN.files:
        _CHOSEN.files = chosen
        find_plugins.cache_clear()


def plugin_files() -> tuple[Path, ...]:
    """Return the files that add to what this process knows."""
    return _CHOSEN.files


@cache
def find_plugins(kind: PluginKind) -> Found:
    """Find the plugins of a kind: those of files first, then those of installed packages."""
    plugins: list[Plugin] = []
    problems: list[str] = []
    for source, reference, load in _sources(kind):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                loaded = tuple(_several(load(), source, reference))
            plugins += [
                replace(plugin, code=_code_at(plugin.reference.rpartition(":")[0])) for plugin in loaded
            ]
        except Exception as error:  # noqa: BLE001 - whatever others' code does, it is named and nothing else ends
            problems.append(f"The plugin {source} was not loaded: {describe_error(error)}.")
        except SystemExit as error:
            problems.append(f"The plugin {source} was not loaded: it ends the program ({error.code}).")
    return Found(tuple(plugins), tuple(problems))


def plugin_entries(
    kind: PluginKind, entry_type: type[Entry], reserved: Collection[str]
) -> PluginEntries[Entry]:
    """Return the plugins for a registry, under names that nothing in it has."""
    of_kind = find_plugins(kind)
    entries: dict[str, Entry] = {}
    problems = list(of_kind.problems)
    for plugin in of_kind.plugins:
        value, prefix = plugin.value, f"The plugin {plugin.source}"
        if not isinstance(value, entry_type):
            if not (issubclass(entry_type, FileFormat) and isinstance(value, FileFormat)):
                problems.append(f"{prefix} gives a {type(value).__name__} for a {kind.word}.")
        elif not _is_word(value.name):
            problems.append(f"{prefix} has a {kind.word} named {value.name!r}, which is not a single word.")
        elif value.name in reserved or value.name in entries:
            problems.append(f"{prefix} has a {kind.word} {value.name}, of which there is one already.")
        else:
            entries[value.name] = value
    return PluginEntries(tuple(entries.values()), tuple(problems))


def _is_word(name: object) -> bool:
    return isinstance(name, str) and name.split() == [name]


def code_of(kind: PluginKind, name: str) -> str:
    """Return the hash of the code that a plugin's thing comes with; empty of what no plugin adds."""
    return next((plugin.code for plugin in find_plugins(kind).plugins if plugin.called == name), "")


def describe_error(error: BaseException) -> str:
    """Describe an error of plugin code on one line."""
    if isinstance(error, SpecError):
        return error.message.rstrip(".")
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def json_value(value: object) -> Any:  # noqa: ANN401 - what JSON may hold
    """Convert a plugin's value to JSON: arrays and figures of libraries too, null for no number.

    Raises:
        TypeError: JSON has nothing like it.
    """
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - commands that only read do without

    return to_jsonable_python(value, inf_nan_mode="null", fallback=_as_list)


def _as_list(value: object) -> object:
    if not hasattr(value, "tolist"):
        raise TypeError(f"JSON has nothing like a {type(value).__name__}")
    return value.tolist()


LOADED_WITHIN = 5.0
"""Seconds that a file may take in another thread; in a file that waits for itself they pass in vain."""
_LOADING: dict[str, threading.Event] = {}


def load_file(path: Path) -> ModuleType:
    """Import a Python file, once in a process.

    Raises:
        SpecError: It is not there, is not a Python file, or loads itself: it begins a ranking that needs it.
    """
    path = path.absolute()
    name = f"arena_plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        loaded = _LOADING.get(name)
        if loaded is not None and not loaded.wait(LOADED_WITHIN):
            raise SpecError(
                f"{path} begins to use itself while it is loaded.",
                advice='Put what it does as a script under `if __name__ == "__main__":`.',
            )
        if (loaded_module := sys.modules.get(name)) is not None:
            return loaded_module
    spec = importlib.util.spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    if spec is None or spec.loader is None or path.suffix != ".py" or not path.is_file():
        raise SpecError(
            f"There is no Python file {path}.", advice="Give the path of a file that ends in .py."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loaded = _LOADING[name] = threading.Event()
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        loaded.set()
        del _LOADING[name]
    return module


class _SourceLoader(SourceFileLoader):
    """Loads what a file holds now: to the cache, an edit of equal length within a second is none."""

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self.source_to_code(self.get_data(self.path), self.path)


def register_function(function: Callable[..., Any]) -> str:
    """Return this process's reference to a function; the same code gets the same one everywhere."""
    name = getattr(function, "__name__", type(function).__name__).strip("<_>")
    place = f"{GIVEN}{hashlib.sha256(_code_of(function).encode()).hexdigest()}"
    _CHOSEN.functions[place] = function
    return f"{place}:{name}"


def _code_of(function: Callable[..., Any]) -> str:
    plain = inspect.unwrap(function)
    enclosed = [repr(cell.cell_contents) for cell in getattr(plain, "__closure__", None) or ()]
    try:
        source = inspect.getsource(plain)
    except (OSError, TypeError):  # typed at a prompt, or an object with `__call__`
        source = repr(plain)
    return ADDRESS.sub("", "\n".join((source, repr(getattr(plain, "__defaults__", None)), *enclosed)))


def resolve(reference: str) -> Any:  # noqa: ANN401 - whatever it names
    """Resolve `FILE.py:NAME` or `MODULE:NAME`: an attribute, one of a file's `JUDGES`, or a function.

    Raises:
        SpecError: It names nothing.
    """
    place, _, name = reference.rpartition(":")
    if place.startswith(GIVEN):
        if place not in _CHOSEN.functions:
            advice = "Rank from there again with the function, or name another judge."
            raise SpecError(f"The function {name} belongs to a Python program.", advice=advice)
        return _CHOSEN.functions[place]
    module = load_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    if hasattr(module, name):
        return getattr(module, name)
    for kind in PluginKind:
        for plugin in _several(getattr(module, kind.value, ()), place, place):
            if plugin.name == name:
                return plugin.value
    raise SpecError(f"There is no {name!r} in {place}.", advice="Name something that it defines.")


def _sources(kind: PluginKind) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Each source: what messages call it, where it is, and how it is loaded."""
    for path in _CHOSEN.files:
        yield str(path), str(path), partial(_attribute, path, kind)
    for point in _selection()(group=kind.group):
        package = point.dist.name if point.dist is not None else point.value
        yield f"{point.name} of {package}", point.value, partial(_of_point, point)


@cache
def _selection() -> "Callable[..., Iterable[EntryPoint]]":
    # To look through all packages for each kind slows commands.
    from importlib.metadata import entry_points  # noqa: PLC0415 - only where somebody asks for plugins

    return entry_points().select


def _attribute(path: Path, kind: PluginKind) -> object:
    return getattr(load_file(path), kind.value, ())


def _of_point(point: "EntryPoint") -> object:
    """Load an entry point: one thing under the entry point's name, several as they are."""
    value = point.load()
    return value if isinstance(value, Mapping | Sequence) else {point.name: value}


def _code_at(place: str) -> str:
    if place.endswith(".py"):
        files = [Path(place)]
    else:
        module = sys.modules.get(place.partition(".")[0])
        folders = [Path(folder) for folder in getattr(module, "__path__", ())]
        files = sorted(file for folder in folders for file in folder.rglob("*.py"))
        files = files or [Path(file) for file in (getattr(module, "__file__", None),) if file]
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _several(value: object, source: str, reference: str) -> Iterator[Plugin]:
    pairs = value.items() if isinstance(value, Mapping) else [("", member) for member in _listed(value)]
    for name, member in pairs:
        plugin_name = str(name or getattr(member, "__name__", "").replace("_", "-"))
        place = reference if ":" in reference else f"{reference}:{plugin_name}"
        yield Plugin(plugin_name, member, source, place)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) else (value,)
