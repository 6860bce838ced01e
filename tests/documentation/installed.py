"""Install the package as its users do: build its wheel, and install that into an environment of its own."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.conftest import REPOSITORY


def install(folder: Path) -> Path:
    """Install the wheel into a new environment in `folder`, beside this environment's packages; return its Python."""
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, REPOSITORY)
    _run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    (packages,) = folder.glob("venv/lib/*/site-packages")
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = folder / "venv" / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", *folder.glob("*.whl"))
    return python


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
