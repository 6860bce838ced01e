"""Fixtures for all tests: a tiny model with random weights, saved as a folder like the ones users have."""

import os
import re

# Read by OpenMP when torch is first imported: idle threads that spin would take the cores from everything else.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("ATTNVIZ_SECRET", "the secret of the tests")  # otherwise the app stores one in the user's folder

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion

from attnviz import Translator
from attnviz.checkpoint import save_model
from attnviz.languages import set_language
from attnviz.network import ModelConfig, RNNsearch
from attnviz.text import Tokenizer
from tests.snapshots import SentenceSnapshot

_settings = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("push", _settings, derandomize=True, max_examples=30)
settings.register_profile("nightly", _settings, print_blob=True, max_examples=300)
settings.load_profile("push")

SENTENCES = (
    "A girl is riding a red bicycle.",
    "Une fille fait du vélo sur une bicyclette rouge.",
    "I don't know what you are talking about.",
    "Je ne sais pas de quoi vous parlez.",
    "The agreement on the European Economic Area was signed in August 1992.",
    "L'accord sur l'Espace économique européen a été signé en août 1992.",
    "Two dogs play in the snow, and nobody looks at them.",
    "Deux chiens jouent dans la neige, et personne ne les regarde.",
    "Where is the station? It's over there!",
    "Où est la gare ? C'est là-bas !",
    "The committee will vote tomorrow at 12.30 p.m. on the whole budget.",
    "La commission votera demain à 12h30 sur l'ensemble du budget.",
)

REPOSITORY = Path(__file__).resolve().parent.parent
SHIPPED_MODEL = REPOSITORY / "models" / "en-fr"
ModelFactory = Callable[..., RNNsearch]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file whose tests are all nightly if those are left out: some import Ray or transformers."""
    if config.option.markexpr != "not nightly" or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return bool(re.search(r"^pytestmark = .*\bpytest\.mark\.nightly\b", text, re.MULTILINE)) or None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI, which installs Chromium first, make a skipped test a failure."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"{item.nodeid} must not be skipped in CI: {report.longrepr}"
    return report


@pytest.fixture
def snapshot(snapshot) -> SnapshotAssertion:
    """Compare sentences with the snapshot file of a module and language (`pytest --snapshot-update` rewrites it)."""
    return snapshot.use_extension(SentenceSnapshot)


@pytest.fixture(autouse=True)
def _english() -> None:
    """Begin every test in English: the language that a test before has set would choose the snapshot file."""
    set_language("en")


@pytest.fixture(params=["en", "fr"])
def each_language(request) -> str:
    """Run the test in English and in French, with a snapshot file for each."""
    set_language(request.param)
    return str(request.param)


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, 150)


@pytest.fixture(scope="session")
def make_network(tokenizer) -> ModelFactory:
    """Return a function that makes a network of random weights, large enough for attention to be far from uniform."""

    def make(attention: str = "additive", readout_state: str = "previous", **sizes: int) -> RNNsearch:
        own = {"embedding_size": 12, "hidden_size": 10, "alignment_size": 7, "maxout_size": 6}
        sizes = {"vocabulary_size": len(tokenizer)} | own | sizes
        network = RNNsearch(ModelConfig(**sizes, attention=attention, readout_state=readout_state))
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
        return network.requires_grad_(False).eval()

    return make


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory, make_network, tokenizer) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_model(folder, make_network(), tokenizer)
    return folder


@pytest.fixture(scope="session")
def translator(model_folder) -> Translator:
    return Translator.load(model_folder, device="cpu")


@pytest.fixture(scope="session")
def shipped_model() -> Path:
    """Return the folder of the model that comes with the program."""
    if not SHIPPED_MODEL.is_dir() and not os.environ.get("CI"):
        pytest.skip("models/en-fr is not there")
    return SHIPPED_MODEL


@pytest.fixture(scope="session")
def shipped_translator(shipped_model) -> Translator:
    return Translator.load(shipped_model, device="cpu")
