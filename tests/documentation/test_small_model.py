"""The tiny Hugging Face model among the example files is the one that `small_model.py` writes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.documentation.pages import SMALL_MODEL

try:
    from tests.documentation.small_model import write_small_model
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("transformers is not installed", allow_module_level=True)


@pytest.mark.nightly
def test_shipped_model_equals_the_written_one(tmp_path: Path) -> None:
    write_small_model(tmp_path)
    shipped, written = (load_file(folder / "model.safetensors") for folder in (SMALL_MODEL, tmp_path))
    assert shipped.keys() == written.keys()
    assert all(np.allclose(shipped[name], written[name], atol=1e-6) for name in shipped)
    pieces = [
        json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        for folder in (SMALL_MODEL, tmp_path)
    ]
    assert pieces[0] == pieces[1]
