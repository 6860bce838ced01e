"""What is said of translators beside one another follows from what was measured of them."""

from __future__ import annotations

from attnviz.wording.answers_beside import standing


def test_where_the_transformer_stands_follows_from_the_scores() -> None:
    additive = {"1-10": 30.0, "11-20": 22.0, "21-30": 15.0}
    told = standing(additive, {"1-10": 31.0, "11-20": 20.5, "21-30": 12.0})
    assert "behind the additive model at 2 of 3 lengths, by up to 3.0 BLEU" in told
    assert "not tried" in told
    assert "nowhere behind" in standing(additive, dict(additive))
    assert standing(additive, {"31-40": 9.0}) == ""
