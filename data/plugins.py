"""Plugins: entry points of installed packages, and Python files.

An entry point's object, or an attribute of a file (`METRICS`, `JUDGES`, …), is one entry, a sequence or a
mapping by name. Kinds are loaded on first use. A plugin that cannot be loaded is a problem; the others work.
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
"""Key of a score's details: the hash of the plugin's code."""


class PluginKind(StrEnum):
    """Kinds of plugins, named like the attribute of a file."""

    METRICS = "METRICS"
    JUDGES = "JUDGES"
    FORMATS = "FORMATS"
    RETRIEVERS = "RETRIEVERS"
    TRANSPORTS = "TRANSPORTS"
    PAGES = "PAGES"

    @property
    def group(self) -> str:
        """Group of entry points."""
        return f"answer_arena.{self.value.lower()}"

    @property
    def word(self) -> str:
        """Name of the kind in messages."""
        return self.value.lower().removesuffix("s")


@dataclass(frozen=True, slots=True)
class Plugin:
    """Plugin.

    Attributes:
        name: Name in a mapping or of a function; else empty.
        source: File or entry point, for messages.
        reference: Reference for other processes, see `resolve`.
        code: Prefix of the hash of its code.
    """

    name: str
    value: Any
    source: str
    reference: str
    code: str = ""

    @property
    def called(self) -> str:
        """Own name, else the registered name."""
        return str(getattr(self.value, "name", "") or self.name)


@dataclass(frozen=True, slots=True)
class PluginList:
    """Plugins of a kind, and problems of those that could not be loaded."""

    plugins: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()


ADDRESS = re.compile(r" at 0x[0-9a-f]+")
NAME = re.compile(r"\w+")
COUNTER = re.compile(r"\b(\w++)\s*+[-+]=")
"""A variable that a function counts with; its value does not identify the function."""
CONSTANTS = (str, bytes, int, float, tuple, type(None))
GIVEN = "given:"
"""Prefix of references to functions of this process."""


class Described(Protocol):
    """Protocol of entries with a name."""

    @property
    def name(self) -> str:
        """Name of the entry."""
        ...


Entry = TypeVar("Entry", bound=Described)


@dataclass(frozen=True, slots=True)
class PluginEntries(Generic[Entry]):
    """Plugins for a registry, and problems of invalid ones."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """Base of formats of answers, of battles and of question sets."""

    name: str


@dataclass(slots=True)
class _Registered:
    """Files and functions of this process."""

    files: tuple[Path, ...] = ()
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)


_REGISTERED = _Registered()


def use_plugin_files(files: Iterable[Path]) -> None:
    """Replace the plugin files of this process."""
    paths = tuple(dict.fromkeys(Path(file).absolute() for file in files))
    if paths != _REGISTERED.files:
        _REGISTERED.files = paths
        find_plugins.cache_clear()


def plugin_files() -> tuple[Path, ...]:
    """Return the plugin files of this process."""
    return _REGISTERED.files


@cache
def find_plugins(kind: PluginKind) -> PluginList:
    """Load the plugins of a kind: from files first, then from installed packages."""
    plugins: list[Plugin] = []
    problems: list[str] = []
    for source, reference, load in _sources(kind):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                loaded = tuple(_several(load(), source, reference))
            plugins += [
                replace(plugin, code=_code_at(plugin.reference.rpartition(":")[0])) for plugin in loaded
            ]
        except Exception as error:  # noqa: BLE001 - plugin code may raise anything
            problems.append(f"The plugin {source} was not loaded: {describe_error(error)}.")
        except SystemExit as error:
            problems.append(f"The plugin {source} was not loaded: it exits the program ({error.code}).")
    return PluginList(tuple(plugins), tuple(problems))


def plugin_entries(
    kind: PluginKind, entry_type: type[Entry], reserved: Collection[str]
) -> PluginEntries[Entry]:
    """Return the plugins for a registry, without its reserved names."""
    of_kind = find_plugins(kind)
    entries: dict[str, Entry] = {}
    problems = list(of_kind.problems)
    for plugin in of_kind.plugins:
        value, prefix = plugin.value, f"The plugin {plugin.source}"
        if not isinstance(value, entry_type):
            if not (issubclass(entry_type, FileFormat) and isinstance(value, FileFormat)):
                problems.append(f"{prefix} is a {type(value).__name__}, not a {kind.word}.")
        elif not _is_word(value.name):
            problems.append(f"{prefix} has a {kind.word} named {value.name!r}, which is not a single word.")
        elif value.name in reserved or value.name in entries:
            problems.append(f"{prefix} has a {kind.word} {value.name}, but that name is already in use.")
        else:
            entries[value.name] = value
    return PluginEntries(tuple(entries.values()), tuple(problems))


def _is_word(name: object) -> bool:
    return isinstance(name, str) and name.split() == [name]


def code_of(kind: PluginKind, name: str) -> str:
    """Return the hash of the code of a plugin's entry; empty for built-in ones."""
    return next((plugin.code for plugin in find_plugins(kind).plugins if plugin.called == name), "")


def describe_error(error: BaseException) -> str:
    """Describe an error of plugin code on one line."""
    if isinstance(error, SpecError):
        return error.message.rstrip(".")
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def json_value(value: object) -> Any:  # noqa: ANN401 - what JSON may contain
    """Convert a plugin's value, including arrays and numbers of libraries, to JSON; NaN becomes null.

    Raises:
        TypeError: It cannot be converted.
    """
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - most commands do not need it

    return to_jsonable_python(value, inf_nan_mode="null", fallback=_as_list)


def _as_list(value: object) -> object:
    if not hasattr(value, "tolist"):
        raise TypeError(f"a {type(value).__name__} cannot be converted to JSON")
    return value.tolist()


LOAD_TIMEOUT = 5.0
"""Seconds to wait for another thread that loads the file; a file that loads itself reaches it."""
_LOADING: dict[str, threading.Event] = {}


def load_file(path: Path) -> ModuleType:
    """Import a Python file once per process.

    Raises:
        SpecError: It does not exist, is not a Python file, or loads itself.
    """
    path = path.absolute()
    name = f"arena_plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        loaded = _LOADING.get(name)
        if loaded is not None and not loaded.wait(LOAD_TIMEOUT):
            raise SpecError(
                f"{path} imports itself while it is being loaded.",
                advice='Put its script under `if __name__ == "__main__":`.',
            )
        if (loaded_module := sys.modules.get(name)) is not None:
            return loaded_module
    spec = importlib.util.spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    if spec is None or spec.loader is None or path.suffix != ".py" or not path.is_file():
        raise SpecError(f"There is no Python file {path}.", advice="Use the path of a file that ends in .py.")
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
    """Loader without the bytecode cache, which misses same-size edits within a second."""

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self.source_to_code(self.get_data(self.path), self.path)


def register_function(function: Callable[..., Any]) -> str:
    """Register a function of this process and return its reference, which depends only on its code."""
    name = getattr(function, "__name__", type(function).__name__).strip("<_>")
    place = f"{GIVEN}{hashlib.sha256(_code_of(function).encode()).hexdigest()}"
    _REGISTERED.functions[place] = function
    return f"{place}:{name}"


def _code_of(function: Callable[..., Any]) -> str:
    """Return the source of a function or object, and what it uses of its module: functions and constants."""
    parts = [repr(function)] if isinstance(function, partial) else []
    used = [inspect.unwrap(function.func if isinstance(function, partial) else function)]
    for plain in used:
        call = plain.__call__ if callable(plain) and not inspect.isroutine(plain) else plain
        owner = getattr(call, "__self__", None)
        try:
            source = inspect.getsource(plain if owner is None else type(owner))
        except (OSError, TypeError):  # typed at a prompt
            source = repr(plain)
        known = {**getattr(call, "__globals__", {}), **getattr(owner, "__dict__", {})}
        names = {*NAME.findall(source)} & known.keys() - {*COUNTER.findall(source)}
        cells = [cell.cell_contents for cell in getattr(call, "__closure__", None) or ()]
        cells = [value for value in cells if not isinstance(value, list | set)]  # Often logs of its calls.
        values = [*(known[name] for name in sorted(names)), *cells]
        module = getattr(call, "__module__", None)
        helpers = [value for value in values if inspect.isfunction(value) and value.__module__ == module]
        used += [helper for helper in helpers if helper not in used]
        constants = [value for value in values if isinstance(value, CONSTANTS)]
        defaults = [getattr(call, name, None) for name in ("__defaults__", "__kwdefaults__")]
        parts.append(f"{source}\n{(constants, cells, defaults)!r}")
    return ADDRESS.sub("", "\n".join(parts))


def resolve(reference: str) -> Any:  # noqa: ANN401 - of any type
    """Resolve `FILE.py:NAME` or `MODULE:NAME`: an attribute, one of a file's `JUDGES`, or a function.

    Raises:
        SpecError: It does not exist.
    """
    place, _, name = reference.rpartition(":")
    if place.startswith(GIVEN):
        if place not in _REGISTERED.functions:
            advice = "Rank again from that program, or choose another judge."
            raise SpecError(f"The function {name} belongs to another Python program.", advice=advice)
        return _REGISTERED.functions[place]
    module = load_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    if hasattr(module, name):
        return getattr(module, name)
    for kind in PluginKind:
        for plugin in _several(getattr(module, kind.value, ()), place, place):
            if plugin.name == name:
                return plugin.value
    raise SpecError(f"There is no {name!r} in {place}.", advice="Use a name that is defined there.")


def _sources(kind: PluginKind) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield each source with its name for messages, its reference and its loader."""
    for path in _REGISTERED.files:
        yield str(path), str(path), partial(_attribute, path, kind)
    for point in _selection()(group=kind.group):
        package = point.dist.name if point.dist is not None else point.value
        yield f"{point.name} of {package}", point.value, partial(_of_point, point)


@cache
def _selection() -> "Callable[..., Iterable[EntryPoint]]":
    # Scanning all packages for each kind slows commands.
    from importlib.metadata import entry_points  # noqa: PLC0415 - only if plugins are needed

    return entry_points().select


def _attribute(path: Path, kind: PluginKind) -> object:
    return getattr(load_file(path), kind.value, ())


def _of_point(point: "EntryPoint") -> object:
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
