"""The package: ranges of its dependencies, versions, its wheel in fresh environments, and the folder `.deploy`."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from plotly.offline import get_plotlyjs, get_plotlyjs_version
from streamlit import file_util

import attnviz
from attnviz import versions
from attnviz.browser_programs import KATEX, PLOTLY, PLOTLY_TRACES, katex_style
from attnviz.commands.main import attnviz_app
from attnviz.extras import EXTRAS
from tests.browser.server import content_policy
from tests.conftest import REPOSITORY
from tests.documentation.pages import EXAMPLES
from tests.processes import run_python
from tests.snapshots import refusal

LOWEST = REPOSITORY / "tests" / "lowest-requirements.txt"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {line.name: line.specifier for line in map(Requirement, PROJECT["dependencies"])}


def added_by(extra: str) -> dict[str, SpecifierSet]:
    """Return the packages that an extra adds to the core, with their ranges."""
    added = {}
    for line in map(Requirement, PROJECT["optional-dependencies"][extra]):
        own = line.name == "attnviz"
        added |= {k: v for one in line.extras for k, v in added_by(one).items()} if own else {line.name: line.specifier}
    return added


RANGES = CORE | added_by("app")
"""The packages of the app."""
ENDS = {"lowest": ["-r", str(LOWEST)], "newest": ["--upgrade", *sorted(RANGES.keys() - {"torch"})]}
"""The arguments of `pip install` for each end; torch is the installed one, since another takes gigabytes."""
SMOKE = (
    *("tests/ui/test_page.py", "tests/figures/test_figures.py", "tests/export/test_exports.py"),
    *("tests/corpora/test_run.py", "tests/training/test_run.py", "tests/test_languages.py"),
)
TEST_TOOLS = ("hypothesis", "pdfminer-six", "pytest", "pytest-xdist", "syrupy")
IMPORT_ALL = """
import importlib, pkgutil, attnviz
for module in pkgutil.walk_packages(attnviz.__path__, "attnviz."):
    if not module.name.startswith(("attnviz.__main__", "attnviz.corpora.cluster", "attnviz.view.notebook")):
        importlib.import_module(module.name)
"""
"""The cluster needs Ray, and the widget anywidget, of other extras."""


def pins(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def test_pins_lowest_versions_and_extras_agree_with_the_package() -> None:
    pinned = pins(REPOSITORY / "requirements.txt")
    assert pinned.keys() == RANGES.keys()
    assert {name: version for name, version in pinned.items() if not RANGES[name].contains(version)} == {}
    bounds = {name: str(bound) for name, bound in RANGES.items() if name != "torch"}
    assert {name: f">={version}" for name, version in pins(LOWEST).items()} == bounds
    assert all(library in added_by(extra) and library not in CORE for library, extra in EXTRAS.items())
    assert added_by("app").keys() <= EXTRAS.keys()
    everything = {name for extra in PROJECT["optional-dependencies"] for name in added_by(extra)}
    assert added_by("all").keys() == everything
    assert tuple(map(int, re.findall(r"\d+", str(RANGES["streamlit"]))[:2])) == versions.LOWEST


def without_python_settings() -> dict[str, str]:
    """Return the environment, pip's settings included, without variables of Python: a user has none."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def required_packages(name: str) -> set[str]:
    found, open_ = set[str](), [name]
    while open_:
        one = canonicalize_name(open_.pop())
        if one not in found:
            found.add(one)
            lines = map(Requirement, metadata.requires(one) or [])
            open_ += [line.name for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]
    return found


def started(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    how = {"cwd": folder, "env": without_python_settings(), "capture_output": True, "text": True, "timeout": 590}
    return subprocess.run(command, check=False, **how)


class Environment:
    """A fresh virtual environment."""

    def __init__(self, folder: Path) -> None:
        self._run(sys.executable, "-m", "venv", str(folder / "venv"))
        self.scripts = folder / "venv" / "bin"
        self.site_packages = next(folder.glob("venv/lib/*/site-packages"))

    def link_torch(self, folder: Path) -> None:
        """Let the environment use this environment's torch, by links in `folder`."""
        # Links in a folder beside the environment: pip does not uninstall from there.
        linked = folder / "linked"
        linked.mkdir()
        for name in sorted(required_packages("torch") - {"setuptools", *RANGES} | {"torch"}):
            package = metadata.distribution(name)
            # Several packages of NVIDIA share one folder.
            for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
                if not (linked / top).exists():
                    (linked / top).symlink_to(str(package.locate_file(top)))
        (self.site_packages / "linked.pth").write_text(f"{linked}\n", encoding="utf-8")

    def _run(self, *command: str, folder: Path = REPOSITORY) -> str:
        done = started(*command, folder=folder)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        return done.stdout

    def python(self, *arguments: str, folder: Path = REPOSITORY) -> str:
        return self._run(str(self.scripts / "python"), *arguments, folder=folder)

    def install(self, *arguments: str) -> str:
        return self.python("-m", "pip", "install", "--quiet", "--no-compile", *arguments)

    def versions(self) -> dict[str, str]:
        listed = json.loads(self.python("-m", "pip", "list", "--format", "json"))
        found = {canonicalize_name(one["name"]): one["version"] for one in listed}
        return {name: version for name, version in found.items() if name in RANGES}


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """Return a copy of the files the package is built from, since building writes beside them."""
    copy = tmp_path_factory.mktemp("built") / "source"
    shutil.copytree(REPOSITORY / "attnviz", copy / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("en-fr", "small-additive"):
        shutil.copytree(REPOSITORY / "models" / name, copy / "models" / name)
    (copy / ".streamlit").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "app.py", ".streamlit/config.toml"):
        shutil.copy(REPOSITORY / name, copy / name)
    return copy


@pytest.mark.nightly
@pytest.mark.parametrize("end", ENDS)
def test_lowest_and_highest_versions_work(end, tmp_path) -> None:
    environment = Environment(tmp_path)
    environment.link_torch(tmp_path)
    tools = pins(REPOSITORY / "tests" / "requirements.txt")
    environment.install(*ENDS[end], *(f"{name}=={tools[name]}" for name in TEST_TOOLS))
    versions = environment.versions()
    if end == "lowest":
        assert versions.items() >= pins(LOWEST).items()
    assert all(RANGES[name].contains(version) for name, version in versions.items())
    environment.python("-c", IMPORT_ALL)
    # Other versions may warn of what changes in releases that the pins are past, or not at yet.
    output = environment.python("-m", "pytest", "-n0", "-q", "-m", "not nightly", "-W", "default", *SMOKE)
    assert re.search(r"\d+ passed", output)


@pytest.fixture(scope="module")
def wheel(source) -> Path:
    """Return the built wheel, which has passed twine's check."""
    folder = source.parent / "dist"
    run_python("-m", "build", source, "--outdir", folder)
    run_python("-m", "twine", "check", "--strict", *folder.iterdir())
    return next(folder.glob("*.whl"))


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    return shutil.copytree(EXAMPLES, tmp_path / "elsewhere")


@pytest.mark.nightly
def test_wheel_is_complete_and_small(source, wheel) -> None:
    assert wheel.stat().st_size < 60e6
    packed = set(ZipFile(wheel).namelist())
    own = {path.relative_to(source).as_posix() for path in (source / "attnviz").rglob("*") if path.is_file()}
    assert all(name.endswith(".d.ts") for name in own - packed)
    assert {f"attnviz/models/{name}/model.safetensors" for name in ("en-fr", "small-additive")} <= packed
    assert {"attnviz/start/app.py", "attnviz/start/.streamlit/config.toml"} <= packed


WITHOUT_A_MODEL = """
from attnviz import alignment_error, export, models, read_attention
from attnviz.commands.main import main

export.save(read_attention("gold.jsonl")[0], "pair.html")
for command in (["attention", "gold.jsonl", "-o", "table.csv"], ["score", "links.txt", "--gold", "gold.jsonl"]):
    assert main(command) == 0
assert main(["translate", "--help"]) == 0
assert main(["translate", "A", "--model", "nowhere"]) == 2
print(f"AER {alignment_error('links.txt', 'gold.jsonl').aer:.3f}", *models())
"""
"""What the core does: read a file, draw a page, write a table, score links, help, and list the models."""
HUGGING_FACE = """
import sys
from attnviz import AttnvizError, from_huggingface

try:
    from_huggingface("my-model", text="The green house.", target="La maison verte.")
except AttnvizError as error:
    sys.exit(str(error))
"""
TRIED = {
    "translate": ["attnviz", "translate", "A house."],
    "evaluate": ["attnviz", "evaluate", "pairs.tsv", "--model", "small-additive", "--beam", "1"],
    "corpus with Ray": ["attnviz", "corpus", "pairs.tsv", "-o", "table.parquet", "--ray", "--actors", "1"],
    "Hugging Face": ["python", "-c", HUGGING_FACE],
    "app": ["attnviz", "app", "--runs", "nowhere"],
}
"""What needs an extra; the app is refused for its folder where all its libraries are there."""
FIGURE_IN_A_NOTEBOOK = """
import contextlib
from jupyter_client.manager import run_kernel

shown = []
with run_kernel(kernel_name="python3") as client:
    code = "from attnviz import read_attention as read; record = read('gold.jsonl')[0]; record.heatmap().show(); record"
    reply = client.execute_interactive(code, output_hook=shown.append, timeout=120)
assert reply["content"]["status"] == "ok", reply
for kind in ("application/vnd.plotly.v1+json", "application/vnd.jupyter.widget-view+json"):
    assert any(kind in one["content"].get("data", {}) for one in shown)
"""

TIMED_IMPORT = """
import time
from attnviz import read_attention, alignment_error
print(time.process_time())
"""
"""Prints processor time, Python's start included: other programs on the machine do not change it."""


def without_extras(program: str, folder: Path) -> list[str]:
    """Return the lines that a program prints in `folder`, where the libraries of the extras cannot be imported."""
    absent = f"import sys\nsys.path.append({str(REPOSITORY)!r})\nsys.modules.update(dict.fromkeys({[*EXTRAS]}))\n"
    done = started(sys.executable, "-c", absent + program, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


WITH_AN_EXTRA = """
import importlib
import attnviz

for use in (
    lambda: attnviz.Translator,
    lambda: importlib.import_module("attnviz.training").train,
    lambda: importlib.import_module("attnviz.corpora").analyse_file,
    lambda: attnviz.from_huggingface("model", "A", "B"),
    lambda: importlib.import_module("attnviz.view.notebook"),
    lambda: importlib.import_module("attnviz.view.streamlit"),
):
    try:
        use()
    except attnviz.AttnvizError as error:
        print(error)
"""


def test_core_works_without_the_libraries_of_the_extras_and_says_which_is_lacking(tmp_path, snapshot) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    *printed, names = without_extras(f"{WITHOUT_A_MODEL}{WITH_AN_EXTRA}print(*dir(attnviz))", tmp_path)
    (place,) = (at for at, line in enumerate(printed) if line.startswith("AER 0.169 en-fr "))
    assert printed[place + 1 :] == snapshot
    assert {"pair.html", "table.csv"} <= {path.name for path in tmp_path.iterdir()}
    assert {*attnviz.__all__} - {*names.split()} == {"Translator", "evaluate", "train"}
    assert {*attnviz.__all__} <= {*dir(attnviz)}


@pytest.mark.nightly
@pytest.mark.parametrize("extra", ["", *sorted(PROJECT["optional-dependencies"].keys() - {"all"})])
def test_each_extra_works_and_an_error_names_the_others(extra, tmp_path, elsewhere, wheel, snapshot) -> None:
    environment = Environment(tmp_path)
    (tmp_path / "constraints").write_text(f"torch=={metadata.version('torch')}\n", encoding="utf-8")
    environment.install(f"{wheel}[{extra}]" if extra else str(wheel), "-c", str(tmp_path / "constraints"))
    assert environment.python("-c", WITHOUT_A_MODEL, folder=elsewhere).endswith("AER 0.169 en-fr small-additive\n")
    seconds = min(float(environment.python("-c", TIMED_IMPORT, folder=elsewhere)) for _ in range(5))
    assert seconds <= 0.6
    outcomes = {}
    for name, (program, *arguments) in TRIED.items():
        done = started(str(environment.scripts / program), *arguments, folder=elsewhere)
        outcomes[name] = done.stderr.splitlines()[-1] if done.returncode else "works"
    assert outcomes == snapshot
    if extra == "notebook":
        environment.python("-c", FIGURE_IN_A_NOTEBOOK, folder=elsewhere)
    if extra == "app":  # it is served with the settings of the package
        command = [str(environment.scripts / "attnviz"), "app"]
        assert "script-src" in content_policy(command, elsewhere, without_python_settings())


@pytest.mark.parametrize("version", ["1.60.0", "1.65.9", "2.0.0", "0.99", ""])
def test_other_streamlit_version_is_refused_with_a_command(version, monkeypatch, snapshot) -> None:
    def found(name: str) -> str:
        if not version:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(versions.metadata, "version", found)
    assert refusal(versions.check_streamlit) == snapshot


@pytest.mark.parametrize("version", ["1.66.0", "1.67.0", "1.100.2", "1.70.0rc1"])
def test_streamlit_version_within_bounds_is_accepted(version, monkeypatch) -> None:
    monkeypatch.setattr(versions.metadata, "version", lambda _: version)
    versions.check_streamlit()


def test_plotly_and_katex_are_those_of_the_installed_packages() -> None:
    """Where this fails, follow attnviz/browser_programs/README.md."""
    assert get_plotlyjs_version() == PLOTLY.version
    assert f'.version="{PLOTLY.version}"' in PLOTLY.text
    assert PLOTLY.version in PLOTLY.file_name
    assert not re.search("</script|<!--", PLOTLY.text), "it is written into pages"
    assert {*re.findall(r"moduleType:\"trace\",name:\"(\w+)\"", PLOTLY.text)} == PLOTLY_TRACES
    assert len(PLOTLY.text) < len(get_plotlyjs()) / 3
    programs = (Path(file_util.get_static_dir()) / "static" / "js").glob("*katex.*.js")
    assert f"`{KATEX.version}`" in "".join(program.read_text(encoding="utf-8") for program in programs)
    assert f'version:"{KATEX.version}"' in KATEX.text
    faces, formulas = katex_style()
    assert f'content:"{KATEX.version}"' in formulas
    assert len(re.findall(r'src:url\("data:font/woff2;base64,[^"]{4000,}"\)', faces)) == faces.count("@font-face") == 6
    assert "url(" not in formulas


DEPLOY = REPOSITORY / ".deploy"


def instructions(kind: str) -> list[str]:
    """Return the arguments of each `kind` instruction of the Dockerfile, with continued lines joined."""
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    return [line.strip().removeprefix(kind).strip() for line in lines if line.strip().startswith(f"{kind} ")]


def sources() -> list[str]:
    """Return the files and folders of the repository that the image contains."""
    words = [[word for word in line.split() if not word.startswith("--")] for line in instructions("COPY")]
    return [source for *copied, _ in words for source in copied]


def test_image_gets_the_files_of_the_app_alone_and_its_command_exists() -> None:
    assert {"app.py", ".streamlit", "attnviz", "models", "requirements.txt"} <= {*sources()}
    ignored, *lines = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()[1:]
    sent = {line[1:].partition("/")[0] for line in lines if line.startswith("!")}
    assert (ignored, lines[-1], sent) == ("*", "**/__pycache__", {*sources()})
    assert "!.streamlit" not in lines, "secrets.toml may be there"
    python, option, module, *command = json.loads(instructions("CMD")[-1])
    assert (python, option, module) == ("python", "-m", "attnviz")
    attnviz_app().parse_args(command, exit_on_error=False, print_error=False)


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
    assert [source for source in sources() if not (tmp_path / "space" / source).exists()] == []
    settings = tomllib.loads((tmp_path / "space" / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert not settings["server"]["enableXsrfProtection"], "in a frame of another site, uploads have no cookie"
    assert (tmp_path / "space" / "README.md").read_text(encoding="utf-8").startswith("---\ntitle: attnviz\n")
    assert (tmp_path / "space" / ".dockerignore").read_text() == (DEPLOY / "Dockerfile.dockerignore").read_text()
    image = (tmp_path / "space" / "Dockerfile").read_text(encoding="utf-8")
    assert "\nENV ATTNVIZ_HOSTS=*.hf.space ATTNVIZ_FRAME_ANCESTORS=https://huggingface.co\n" in image
