"""Payloads: named by their request, made once for all visitors, and made again from the request alone."""

import json
import re

import numpy as np
import pytest

from attnviz import ReplaceWeights, Temperature, Trace
from attnviz.architectures import EVERY_TRANSLATION, IMPORTED, RNNSEARCH
from attnviz.lru_cache import LRUCache
from attnviz.trace import WhatIf
from attnviz.trace.what_ifs import encode_what_ifs
from attnviz.ui import payloads, resources
from attnviz.ui.embedding import in_theme
from attnviz.ui.payloads import UnknownPayloadError, UnknownRequestError, address, payload
from tests.conftest import SENTENCES
from tests.figures import synthetic
from tests.figures.payloads import figure_at
from tests.snapshots import refusal
from tests.ui.opening import open_page, upload
from tests.ui.shown_payloads import blocks, fetched, fetching, forget, sent_requests, shown_trace
from tests.ui.test_gold import PAIRS

OF_ALL = EVERY_TRANSLATION - {"facts"}
RECURRENT = RNNSEARCH.payloads - IMPORTED.payloads
WITHOUT_ATTENTION = {"state", "maxout", "candidates", "context", "verification", "logit-attribution", "contrast"}
WITHOUT_ATTENTION |= {"facts", "equation-3", "equation-4", "equation-5"}
OF_WEIGHTS = {"verification", "logit-attribution", "contrast", "posterior", "equation-after"}


@pytest.fixture
def trace(en_fr) -> Trace:
    return resources.translate("en-fr", "cpu", SENTENCES[0], 1, None)


def test_payload_has_the_steps_that_its_address_requests(trace) -> None:
    every = tuple(range(len(trace.target_pieces)))
    for name in {*OF_ALL, *RECURRENT} - {"context", "changed"}:
        for step in (0, every[-1]):
            one = fetched(address(trace, name, every=False), step)
            if "values" in one:
                assert list(one["values"]) == [str(step)]
            if "steps" in one:
                assert one["steps"] == [step]
            assert all(len(texts) == 1 for texts in one.get("ofStep", {}).values())
        if name != "verification":
            whole = fetched(address(trace, name, every=True))
            if "values" in whole and name != "contrast":
                assert list(whole["values"]) == [str(step) for step in every]
                np.testing.assert_equal(figure_at(whole, every[-1]), figure_at(one, every[-1]))
            if "steps" in whole:
                assert tuple(whole["steps"]) == every


@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_payloads_that_need_no_weights_work_without_the_model(attention: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    trace = synthetic.trace(attention=attention)
    names = WITHOUT_ATTENTION if attention == "none" else {*OF_ALL, *RECURRENT} - {"context", "changed"}
    for name in sorted(names):
        with in_theme("dark"):
            at = address(trace, name, every=name != "verification")
        if name in OF_WEIGHTS:
            with pytest.raises(UnknownPayloadError):
                fetched(at)
        else:
            assert fetched(at)


WRONG: list[dict[str, str]] = [
    {"name": "nothing"},
    {"theme": "pink"},
    {"lang": "de"},
    *({"steps": steps} for steps in ("-1", "99999", "²", "")),
    *({"word": word} for word in ("-1", "999999", "x")),
]


def test_invalid_request_raises_unknown_payload_error(trace) -> None:
    digest = address(trace, "energy", every=True).split("/")[1]
    for wrong in WRONG:
        asked = {"theme": "light", "lang": "en", "steps": "all", "word": ""} | wrong
        with pytest.raises(UnknownPayloadError):
            payload(digest, asked.pop("name", "perturbation-tests" if "word" in wrong else "energy"), asked)


def restart() -> None:
    """Empty the caches that a restart of the server empties, except those of models."""
    own = (payloads._TEXTS, payloads._SHOWN, payloads._PAYLOADS)
    forget(*own, resources._TRACES, resources._UPLOADS, alive=True)


def _request_at(at: str) -> tuple[str, str]:
    """Return the digest in an address, and its request as the browser gets it."""
    digest = at.split("/")[1]
    return digest, payloads._TEXTS.find(digest) or ""


def test_request_makes_the_same_payloads_after_a_restart(page, trace, monkeypatch) -> None:
    what_ifs = (
        WhatIf(0, ReplaceWeights((1, 0, *[0] * (len(trace.source_ids) - 2)), 1)),
        WhatIf(1, Temperature(2.5), held=True),
    )
    app = page(sentence=SENTENCES[0], what_ifs=encode_what_ifs(what_ifs), what_if="2", gold="0-0.1-1")
    named = re.findall(rf"{payloads.PAYLOAD_PREFIX}/[^\"]*", " ".join(map(json.dumps, blocks(app))))
    assert len({*named}) > 25
    words = re.findall(r"\w{4,}", f"{SENTENCES[0]} {shown_trace(app).translation}")
    assert not [at for at in named if any(word.lower() in at.lower() for word in words)], "it has what was translated"
    # The files of the translation name its duration.
    addresses = sorted({one["at"] for one in fetching(app) if not re.search(r"-(pictures|file)\b", one["at"])})
    assert len(addresses) > 25
    before, requests = [fetched(at) for at in addresses], dict(map(_request_at, addresses))
    sent_with_page = [sent_requests(element.proto) for element in app.get("bidi_component")]
    sent = {digest: text for one in sent_with_page for digest, text in one.items()}
    assert requests.items() <= sent.items()
    assert sum(map(len, sent_with_page)) <= 2 * len(sent), "not with each payload"
    restart()
    for at in addresses:
        with pytest.raises(UnknownRequestError):
            fetched(at)
    for digest, text in requests.items():
        assert payloads.accept(digest, text)
    for at, one in zip(addresses, before, strict=True):
        assert fetched(at) == one, at


def test_processes_without_a_given_secret_share_that_in_a_file(tmp_path) -> None:
    path = tmp_path / "state" / "secret"
    first = payloads._stored_secret(path)
    assert payloads._stored_secret(path) == first == path.read_bytes()
    assert len(first) == 32
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in path.parent.iterdir()] == ["secret"]
    path.chmod(0o000)
    blocked = tmp_path / "file"
    blocked.touch()
    assert len(payloads._stored_secret(blocked / "secret")) == 32, "it cannot be stored"


def test_uploaded_translation_is_named_by_its_content_and_available_while_it_is_open(monkeypatch, snapshot) -> None:
    trace = synthetic.trace(seed=77)
    at = address(trace, "energy", every=True)
    assert at == address(synthetic.trace(seed=77), "energy", every=True)
    digest, text = _request_at(at)
    assert trace.fingerprint in text
    assert trace.source_text not in text
    before = fetched(at)
    forget(payloads._TEXTS, payloads._SHOWN, payloads._PAYLOADS)
    assert payloads.accept(digest, text)
    assert fetched(at) == before
    monkeypatch.setattr(resources, "_UPLOADS", LRUCache(1, size=resources._UPLOADS._cached.getsizeof))
    forget(payloads._SHOWN, payloads._PAYLOADS)
    first = synthetic.trace(seed=77)
    for one in (first, trace, synthetic.trace(seed=78)):
        address(one, "energy", every=True)
    del first
    forget(payloads._SHOWN)
    assert fetched(at) == before, "another session still holds it"
    restart()
    assert payloads.accept(digest, text)
    assert refusal(lambda: fetched(at)) == snapshot


def _addresses_of_file(name: str, content: bytes) -> set[str]:
    """Return the addresses on a page that shows a file, without their parameters."""
    return {given["at"].split("?")[0] for given in fetching(upload(open_page(), name, content))}


@pytest.mark.usefixtures("models_folder")
def test_same_file_has_the_same_addresses() -> None:
    content = PAIRS.encode()
    first = _addresses_of_file("pairs.tsv", content)
    assert _addresses_of_file("pairs.tsv", content) == first
    of_pair = {at for at in first if at.endswith(("/heatmap", "/chart-tables"))}
    assert len(of_pair) == 2
    for name, other in (("pairs.tsv", content + b"e\tf\t0-0\n"), ("other.tsv", content)):
        assert not of_pair & _addresses_of_file(name, other)
