"""The folder `.deploy`: the container image runs the app, and a Hugging Face Space gets all its files."""

import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.browser.server import content_policy
from tests.conftest import REPOSITORY

DEPLOY = REPOSITORY / ".deploy"
READ_THE_PAGE = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=300).run()
print([one.message for one in app.exception], app.session_state["sentence"], len(app.get("bidi_component")))
"""


def instructions(kind: str) -> list[str]:
    """Return the arguments of each `kind` instruction of the Dockerfile, with continued lines joined."""
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    return [line.strip().removeprefix(kind).strip() for line in lines if line.strip().startswith(f"{kind} ")]


def in_build_context(path: str) -> bool:
    """Return whether `.dockerignore` lets a path into the image: its last line that matches it or a parent decides."""
    found, parts = True, path.split("/")
    places = ["/".join(parts[: k + 1]) for k in range(len(parts))]
    for line in (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.removeprefix("!")
        several = pattern.startswith("**/")
        names = parts if several else places
        if line and line[0] != "#" and any(fnmatch.fnmatchcase(name, pattern.removeprefix("**/")) for name in names):
            found = line[0] == "!"
    return found


def copy_image_files(folder: Path) -> None:
    """Copy into `folder` the files of the repository that the image contains."""
    for line in instructions("COPY"):
        *sources, target = [word for word in line.split() if not word.startswith("--")]
        for source in sources:
            whole = REPOSITORY / source
            files = [path for path in whole.rglob("*") if path.is_file()] if whole.is_dir() else [whole]
            for path in files:
                if in_build_context(str(path.relative_to(REPOSITORY))):
                    copy = folder / target / path.relative_to(whole if whole.is_dir() else REPOSITORY)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, copy)


def environment() -> dict[str, str]:
    """Return the environment of the image's command, with nothing of attnviz's or Streamlit's that is set here."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ATTNVIZ_", "STREAMLIT_"))}
    return own | dict(pair.split("=", 1) for line in instructions("ENV") for pair in line.split())


@pytest.mark.nightly
def test_files_of_image_serve_the_page(tmp_path) -> None:
    copy_image_files(tmp_path / "image")
    held = {str(path.relative_to(tmp_path / "image")) for path in (tmp_path / "image").rglob("*") if path.is_file()}
    assert {"app.py", ".streamlit/config.toml", "models/en-fr/model.safetensors", "requirements.txt"} <= held
    assert not any("__pycache__" in path or "secrets" in path or path.startswith("tests/") for path in held)
    python, *command = json.loads(instructions("CMD")[-1])
    assert python == "python"
    place = command.index("--port")
    command[place : place + 2] = []
    assert "script-src" in content_policy([sys.executable, *command], tmp_path / "image", environment())
    how = {"cwd": tmp_path / "image", "env": environment(), "capture_output": True, "text": True}
    read = subprocess.run([sys.executable, "-c", READ_THE_PAGE], check=True, **how)
    problems, _, rest = read.stdout.strip().partition("] ")
    assert problems == "["
    assert int(rest.split()[-1]) > 5, "the example is translated and shown"


def test_requested_extra_is_installed(tmp_path) -> None:
    (step,) = [line for line in instructions("RUN") if "tomllib" in line]
    written = step.partition("&&")[0].replace("python -c", f"{sys.executable} -c")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    wanted = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]["sign-in"]
    # requirements.txt has what attnviz[train] stands for
    for extra, lines in (("", []), ("sign-in", wanted), ("huggingface", ["transformers>=5.0"])):
        subprocess.run(written, shell=True, cwd=tmp_path, env=os.environ | {"EXTRA": extra}, check=True)
        assert (tmp_path / "extra.txt").read_text().split("\n")[:-1] == (lines or [""])
    known = subprocess.run(written, shell=True, cwd=tmp_path, env=os.environ | {"EXTRA": "x"}, capture_output=True)
    assert known.returncode, "an unknown extra fails the build"


def test_space_has_all_files_of_its_image(tmp_path) -> None:
    subprocess.run(["bash", DEPLOY / "space.sh", tmp_path / "space"], check=True, capture_output=True)
    for line in instructions("COPY"):
        for source in [word for word in line.split() if not word.startswith("--")][:-1]:
            assert (tmp_path / "space" / source).exists(), source
    settings = tomllib.loads((tmp_path / "space" / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert not settings["server"]["enableXsrfProtection"], "in a frame of another site, uploads have no cookie"
    assert (tmp_path / "space" / "README.md").read_text(encoding="utf-8").startswith("---\ntitle: attnviz\n")
    assert (tmp_path / "space" / ".dockerignore").read_text() == (DEPLOY / "Dockerfile.dockerignore").read_text()
    image = (tmp_path / "space" / "Dockerfile").read_text(encoding="utf-8")
    assert "\nENV ATTNVIZ_HOSTS=*.hf.space ATTNVIZ_FRAME_ANCESTORS=https://huggingface.co\n" in image
