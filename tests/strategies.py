"""Hypothesis strategies for the texts that users and other programs enter as sentences."""

from hypothesis import settings
from hypothesis import strategies as st

FEW = settings.default.max_examples // 3
"""How many examples a slow property gets; the profile in use says how many the others get."""
_MARKUP = (
    "**bold** _it_ `code`",
    "<script>alert(1)</script>",
    "<b>x</b>&amp;&lt;",
    "$\\frac{1}{2}$",
    ":red[word]",
    "[a](javascript:x)",
    "![](x)",
    "# Title\n---",
    "| a | b |",
    "{{x}} ${x} %s %(x)s {0}",
    "</s> <s> <pad> <unk>",
    "\u2581\u2581",
    "'; DROP TABLE words; --",
    "\\u0000 \\n",
    ":material/home:",
    "<!-- -->",
    "=SUM(A1)",
    "../../x",
)
_CHARACTERS = st.one_of(
    st.characters(),
    st.characters(categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp")),
    st.characters(categories=("Mn", "Me", "Sk", "So", "Lo")),
    st.sampled_from("aeiou \t\n'\u2019\u2581\u00ab\u00bb-.,?!\u0301\u200d\ufe0f\U0001f600\U0001f468\u5b57\u0639\u05d0"),
)

texts = st.one_of(
    st.text(_CHARACTERS, max_size=60),
    st.lists(st.one_of(st.sampled_from(_MARKUP), st.text(_CHARACTERS, max_size=12)), max_size=6).map(" ".join),
)
"""Up to some dozens of characters of every category, and markup of every kind."""
