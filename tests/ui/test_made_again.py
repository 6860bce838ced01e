"""Interventions are reproduced exactly from a file and from an address.

The test makes changes of every kind, on random networks of every size and kind.
"""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import AttnvizError, Trace, Translator
from attnviz.text import EOS, Tokenizer
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.interventions import (
    KINDS,
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
)
from attnviz.trace.what_ifs import decode_what_ifs, encode_what_ifs
from tests.analysis.given import SIZES
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW
from tests.trace.test_what_ifs import made


def possible_changes(kind: str, parent: Trace) -> st.SearchStrategy[Intervention]:
    """Return a strategy for changes of a kind that fit a translation."""
    pieces, width = st.integers(EOS + 1, parent.vocabulary_size - 1), len(parent.source_ids)
    steps, sources = st.integers(0, len(parent.target_ids) - 1), st.integers(0, width - 1)
    rows = st.lists(st.floats(0, 1), min_size=width, max_size=width).filter(lambda row: max(row) > 1e-30)
    words = st.lists(pieces, min_size=1, max_size=3).map(tuple)
    return {
        "weights": st.builds(ReplaceWeights, rows, st.none() | steps, st.sampled_from(["", "posterior"])),
        "energies": st.builds(ReplaceEnergies, rows, st.none() | steps),
        "exclusion": st.builds(ExcludePosition, sources, st.none() | steps),
        "temperature": st.builds(Temperature, st.floats(0.01, 100) | st.just(math.inf), st.none() | steps),
        "words": st.builds(ForceWords, words, steps, st.integers(1, 3))
        | st.builds(ForceWords, words.map(lambda ids: (*ids, EOS))),
    }[kind]


@settings(max_examples=FEW)
@given(
    data=st.data(),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3),
    beam=st.sampled_from([1, 3]),
    **SIZES,
)
def test_file_and_address_reproduce_what_ifs_bit_for_bit(
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    data: st.DataObject,
    kinds: list[str],
    beam: int,
    kind: tuple[str, str],
    **sizes: int,
) -> None:
    translator = Translator(make_network(*kind, **sizes), tokenizer)
    first = translator.translate(SENTENCES[0], beam=beam)
    what_ifs, traces = list[WhatIf](), [first]
    for changed in kinds:
        place = data.draw(st.integers(0, len(what_ifs)))
        what_if = WhatIf(place, data.draw(possible_changes(changed, traces[place])), data.draw(st.booleans()))
        try:
            traces.append(made(translator, traces[place], what_if.intervention, held=what_if.held, beam=beam))
        except AttnvizError:  # impossible: it excludes every source piece, or the search ends before its step
            continue
        what_ifs.append(what_if)
    opened = WhatIfs.from_json(WhatIfs(first, tuple(what_ifs), tuple(traces[1:])).to_json())
    linked, problems = decode_what_ifs(encode_what_ifs(what_ifs))
    assert (problems, linked) == ((), tuple(what_ifs)) == ((), opened.what_ifs)
    from_address = [translator.translate(SENTENCES[0], beam=beam)]
    for number, what_if in enumerate(linked, 1):
        saved, parent = opened.what_ifs[number - 1], opened.parent(number)
        from_file = made(translator, parent, saved.intervention, held=saved.held, beam=beam)
        from_address.append(
            made(translator, from_address[what_if.parent], what_if.intervention, held=what_if.held, beam=beam)
        )
        expected = {traces[number].fingerprint}
        assert {opened.trace(number).fingerprint, from_file.fingerprint, from_address[number].fingerprint} == expected
