"""The application: settings, services, commands, worker and site."""


def own_version() -> str:
    """Return the installed version; `checkout` where nothing is installed."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - to read metadata takes long

    try:
        return version("answer-arena")
    except PackageNotFoundError:
        return "checkout"
