"""`AttentionRecords`: the sentence pairs of a file as a sequence of `Attention` records, each made on access.

It also holds the detected format, the given tokens, and how the links of the file count tokens.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

from attnviz.errors import AttnvizError, user_error
from attnviz.importing.sentence_pair import DEFAULT_OPTIONS, Options, SentencePair, Sentences
from attnviz.languages import gettext
from attnviz.text import abbreviated
from attnviz.trace import Attention
from attnviz.trace.attention_builder import Tokens
from attnviz.trace.word_link_text import Counting, CountingError, infer_counting

TokenSide = Sequence[Tokens]
"""Tokens of one side, one entry for each pair."""


@dataclass(frozen=True, eq=False, repr=False)
class AttentionRecords(Sequence[Attention]):
    """The attention in a file, one record for each sentence pair.

    `len(records)` is the number of pairs; `records[0]` is the first. A record is made on access, which raises
    AttnvizError, naming the pair, where tokens are missing or do not fit.
    """

    pairs: Sentences = field(repr=False)
    """Sentence pairs as read from the file."""
    source: TokenSide | None = None
    """Source tokens of every pair, where given besides the file."""
    target: TokenSide | None = None
    options: Options = DEFAULT_OPTIONS
    files: tuple[tuple[str, int], ...] = ()
    """Name and number of pairs of each file, where the pairs come from several."""
    problems: dict[int, str] = field(default_factory=dict, init=False)
    """Why pairs, by their 0-based index, could not be read; filled by `filled`."""

    @property
    def format(self) -> str:
        """Name of the format, as `read_attention` takes it."""
        return self.pairs.format

    @property
    def reason(self) -> str:
        """Why the file was detected as this format."""
        return self.pairs.reason

    def __repr__(self) -> str:
        """Return the format and the number of pairs."""
        return f"<{type(self).__name__}: {self.pairs.title}, {len(self)}>"

    def __len__(self) -> int:
        """Return the number of sentence pairs."""
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Attention: ...

    @overload
    def __getitem__(self, index: slice) -> list[Attention]: ...

    def __getitem__(self, index: int | slice) -> Attention | list[Attention]:
        """Return the record of the pair at 0-based `index`, or a list of records for a slice."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        try:
            return self.attention(index)
        except AttnvizError as error:
            if len(self) == 1 or isinstance(error, CountingError):
                raise
            name, place = self.place(index)
            message = gettext("Pair {number}: {error}", number=place + 1, error=str(error))
            raise AttnvizError(f"{name}: {message}" if name else message) from error

    def __iter__(self) -> Iterator[Attention]:
        """Yield the record of each pair."""
        return (self[index] for index in range(len(self)))

    def place(self, index: int) -> tuple[str, int]:
        """Return the file of the pair at 0-based `index`, "" if there is only one, and the index within this file."""
        for name, count in self.files:
            if index < count:
                return name, index
            index -= count
        return "", index

    def pair_numbered(self, number: int) -> SentencePair:
        """Return the pair with `number`, from 1, and its tokens; raise AttnvizError where there is none."""
        if not 1 <= number <= len(self):
            raise user_error(
                "There is no sentence {number}: the number of sentences in the file is {count}.",
                number=number,
                count=len(self),
            )
        return self.pair(number - 1)

    def pair(self, index: int, source: Tokens | None = None, target: Tokens | None = None) -> SentencePair:
        """Return the pair at 0-based `index` with the given tokens, which `source` and `target` replace in turn.

        Raise AttnvizError where the sentences given besides the file lack its line.
        """
        pair = self.pairs[index]
        if self.source is None and self.target is None and not source and not target:
            return pair
        line = index if pair.line is None else pair.line
        sides = list[Tokens | None]()
        for typed, side in ((source, self.source), (target, self.target)):
            if not typed and side is not None and not 0 <= line < len(side):
                raise user_error(
                    "The file has a pair for line {line}, but the given source or target has only {count} lines.",
                    line=line + 1,
                    count=len(side),
                )
            sides.append(typed or (None if side is None else side[line]))
        return pair.with_tokens(sides[0], sides[1])

    def attention(
        self,
        index: int,
        source: Tokens | None = None,
        target: Tokens | None = None,
        *,
        normalise: bool | None = None,
        unescape: bool | None = None,
    ) -> Attention:
        """Return the record of the pair at 0-based `index`; `source` and `target` replace all other tokens."""
        pair = self.pair(index, source, target)
        if [] in pair.sides:
            raise user_error(
                "The source or the target is a blank line, so there is nothing to show. Give a source and a "
                "target sentence, or leave the pair out."
            )
        given: dict[str, Any] = {"normalise": normalise, "unescape": unescape}
        chosen = {name: value for name, value in given.items() if value is not None}
        counting = Counting(0, ends=False)
        if pair.links is not None:
            pair.complete_fields()  # raises before the links of all pairs are read
            counting = self._counting_with({index: pair}) if source or target else self.link_counting
        return pair.attention(counting, dataclasses.replace(self.options, **chosen))

    def is_blank(self, index: int) -> bool:
        """Return whether the pair at 0-based `index` has a blank line as source or target, and no links."""
        pair = self.pair(index)
        return not pair.problem and not (pair.links and pair.links.all) and [] in pair.sides

    def filled(self, index: int) -> Attention | None:
        """Return the record of the pair at 0-based `index`; None where it is blank, or damaged.

        Why a damaged pair of several cannot be read is then in `problems`.
        """
        if self.is_blank(index):
            return None
        try:
            return self[index]
        except CountingError:
            raise
        except AttnvizError as error:
            if len(self) == 1:
                raise
            self.problems[index] = str(error)
            return None

    def tokens(self, index: int) -> tuple[list[str] | None, list[str] | None]:
        """Return the source and target tokens of the pair at 0-based `index`: [] for a blank line, None if unknown."""
        return self.pair(index).sides

    @cached_property
    def link_counting(self) -> Counting:
        """How the links of the file count, inferred from all links and the known tokens of each pair."""
        return self._counting_with({})

    def _counting_with(self, typed: Mapping[int, SentencePair]) -> Counting:
        """Return how the links count if the pairs at these indices have typed tokens."""
        pairs = (typed.get(index) or self.pair(index) for index in range(len(self)))
        counted = [one for number, pair in enumerate(pairs, 1) if (one := pair.counted(number))]
        return infer_counting(counted, self.pairs.ends, self.pairs.base)


def numbers_between(numbers: Iterable[int]) -> Iterator[int]:
    """Yield the numbers that are missing between the smallest and the largest, which may be far apart."""
    return (number for one, two in pairwise(sorted(numbers)) for number in range(one + 1, two))


def format_sentence(records: AttentionRecords) -> str:
    """Return a sentence that names the format of the records, the reason, and the number of pairs."""
    name, title = records.format, records.pairs.title
    sentence = gettext(
        "Format {format}. {reason} Sentence pairs: {count}.",
        format=title if name.casefold() in title.casefold() else f"{name}, {title}",
        reason=records.reason,
        count=len(records),
    )
    lines = {pair.line for pair in records.pairs} if records.format == "giza" else set()  # a log may be of a part
    known = {line + 1 for line in lines if line is not None}
    lost = max(known, default=0) - len(known)
    if lost and None not in lines:
        numbers = abbreviated(numbers_between({0, *known}), count=lost)
        sentence += " " + gettext("The file lacks the pairs with these numbers: {numbers}.", numbers=numbers)
    return f"{sentence} {gettext('Files: {count}.', count=len(records.files))}" if records.files else sentence
