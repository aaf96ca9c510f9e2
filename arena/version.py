"""Version of the installation."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """Return the installed version, or `checkout` without an installation."""
    try:
        return version("answer-arena")
    except PackageNotFoundError:
        return "checkout"
