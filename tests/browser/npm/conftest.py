"""The package as npm packs it, and packages of others."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT


@pytest.fixture(scope="session")
def package(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a user of the package has in `node_modules`."""
    folder = tmp_path_factory.mktemp("packed")
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--logs-max=0", f"--pack-destination={folder}", dist]
    name = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout.strip()
    shutil.unpack_archive(folder / name, folder)
    return folder / "package"


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Packages of others that an app is built with."""
    folder = Path(os.environ.get("LANGFX_NODE_MODULES", ROOT / ".build" / "env-npm" / "node_modules"))
    if not folder.exists():
        pytest.exit(f"{folder} is missing: run `python3 build.py test browser`, which makes it", returncode=3)
    return folder
