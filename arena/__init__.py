"""Application: settings, services, commands, workers and site."""


def own_version() -> str:
    """Return the installed version, or `checkout` without an installation."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow import

    try:
        return version("answer-arena")
    except PackageNotFoundError:
        return "checkout"
