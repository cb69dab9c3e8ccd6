"""Which release of the distribution this is."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "sqlite-memory-mcp"


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Read the version that is installed; a checkout on the path is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "0 (not installed)"
