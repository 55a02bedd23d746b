"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


def shared_data_folder() -> Path | None:
    """The folder of real data sets, which the project may read but not ship."""
    given = os.environ.get("NAMER_EDGE_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    return folder if (folder / "crohme").is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with `crohme/`, `hme100k/` …; skips the test where it is not at hand."""
    folder = shared_data_folder()
    if folder is None:
        pytest.skip("real data not found: set NAMER_EDGE_DATA to a folder that holds crohme/")
    return folder
