"""Process and environment: garbage collection, private files, Prometheus, notifications."""

import gc
import logging
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from data.models import RoundState, Submission
from data.store import Store

ALLOCATIONS = 20_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often, as a context manager or decorator.

    Judging, export and intake create many small values and hardly any cycles; collection took a seventh of
    the time of a cached round. Existing objects are not frozen, which would take half a second.
    """
    before = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        # With overlapping calls of threads, the original threshold is the lower one.
        gc.set_threshold(min(before[0], gc.get_threshold()[0]), *before[1:])


GROUP_AND_OTHERS = 0o077
SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of an SQLite database."""


def make_private(home: Path, database_url: str) -> str:
    """Remove other users' access to an old home and its database, and describe that in a sentence."""
    exposed = [path for path in _paths_of(home, database_url) if _rights(path) & GROUP_AND_OTHERS]
    refused = [path for path in exposed if not _close(path)]
    if refused:
        return f"Other users can read {refused[0]}, and this user cannot change that: use `chmod go=`."
    if not exposed:
        return ""
    return f"Other users could read {home}: {len(exposed):,} files and folders are now private."


def _paths_of(home: Path, database_url: str) -> Iterator[Path]:
    if home.is_dir() and _rights(home) & GROUP_AND_OTHERS:
        yield home
        for folder, folders, files in os.walk(home):
            yield from (Path(folder, name) for name in (*folders, *files))
    if database_url.startswith("sqlite:///"):
        database = Path(database_url.removeprefix("sqlite:///"))
        if not database.is_relative_to(home):
            yield from (path for end in SUFFIXES if (path := Path(f"{database}{end}")).is_file())


def _rights(path: Path) -> int:
    """Return the permissions of a file or folder; 0 for links and missing files."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(mode) else stat.S_IMODE(mode)


def _close(path: Path) -> bool:
    try:
        path.chmod(_rights(path) & ~GROUP_AND_OTHERS)
    except OSError:
        return False
    return True


METRICS = {
    "rounds": ("Rounds by state.", "state"),
    "jobs": ("Jobs by state.", "state"),
    "battles": ("Battles of open rounds by outcome.", "outcome"),
    "workers": ("Workers with a lease and a recent heartbeat.", ""),
    "boards": ("Published boards that are not retracted.", ""),
    "queue_age_seconds": ("Age of the oldest queued job.", ""),
    "spent_usd": ("USD charged to rounds.", ""),
    "lost_usd": ("USD that calls without a reply may have cost.", ""),
}


def metrics_of(store: Store) -> bytes:
    """Return the metrics of an arena and this process in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    for name, counts in store.counts.all().items():
        text, label = METRICS[name]
        gauge = Gauge(f"arena_{name}", text, [label] if label else [], registry=registry)
        for value, count in counts.items():
            (gauge.labels(value) if label else gauge).set(count)
    return generate_latest(registry)


LOG = logging.getLogger("answer_arena.notifications")


class Notifier:
    """Sends events to the address of `ARENA_NOTIFY`; failures are only logged."""

    def __init__(self, store: Store, *, address: str | None = None, public_url: str = "") -> None:
        self._store = store
        self._address = address
        self._public_url = public_url

    def submission_accepted(self, submission: Submission) -> None:
        """Notify of an accepted submission."""
        name = f"{submission.system}, version {submission.version}"
        team = f" of {submission.team}" if submission.team else ""
        self._send("submission accepted", f"{name}{team} was accepted on {submission.set_name}.", "/team")

    def round_ended(self, name: str) -> None:
        """Notify of a finished round and of battles skipped by its cap."""
        if not self._address:
            return
        round_ = self._store.rounds.get(name)
        if round_.state is not RoundState.FINISHED:
            return
        path = f"/admin-rounds?round={name}"
        if skipped := self._store.statuses.skipped_by_budget(round_.id):
            text = f"The round {name} reached its cap of {round_.budget_usd or 0.0:g} USD: "
            self._send("cap reached", f"{text}{skipped:,} battles were skipped.", path)
        self._send("round finished", f"The round {name} is finished.", path)

    def _send(self, event: str, text: str, path: str) -> None:
        if not self._address:
            return
        lines = (text, f"{self._public_url}{path}" if self._public_url else "")
        deliver = threading.Thread(target=_deliver, args=(self._address, event, lines), name="notification")
        deliver.start()


def _deliver(address: str, event: str, lines: Iterable[str]) -> None:
    import apprise

    # Its log contains addresses, which may contain secrets.
    logging.getLogger(apprise.__name__).propagate = False
    try:
        sender = apprise.Apprise(asset=apprise.AppriseAsset(app_id="Answer Arena", async_mode=False))
        delivered = sender.add(address) and sender.notify(
            title=f"Answer Arena: {event}", body="\n".join(filter(None, lines))
        )
    except Exception as error:  # noqa: BLE001 - a failed message must not end the work
        _warn(event, type(error).__name__)
    else:
        if not delivered:
            _warn(event, "not accepted by the address")


def _warn(event: str, reason: str) -> None:
    import structlog

    if structlog.is_configured():
        structlog.get_logger("notifications").warning(
            "notification.failed", notification=event, reason=reason
        )
    else:
        LOG.warning("notification.failed: %s (%s)", event, reason)
