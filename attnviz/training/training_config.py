"""`TrainingConfig`: all settings of a training run, with bounds and help texts; `attnviz train` has one option each."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from attnviz import bounds
from attnviz.arguments import check_version
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.bounds import LARGEST_GUIDANCE, LARGEST_SIZE, LARGEST_VOCABULARY, MOST_LAYERS
from attnviz.errors import AttnvizError
from attnviz.model_folder import TRAINED_MODEL

if TYPE_CHECKING:
    from attnviz.network import TrainableConfig


TRAINING_VERSION = 2
"""Version of the settings file."""
DEFAULT_VOCABULARY = 8000
"""Pieces of the vocabulary unless another size is set."""
_MANY = 10**9
_LARGEST_SEED = 2**31 - 1


TRAINING_GROUPS = ("Data", "Model", "Optimiser", "Run")
"""Groups of the options in the help of the command line, in order."""


def _option(
    group: str,
    help_text: str,
    default: Any = dataclasses.MISSING,
    among: tuple[Any, ...] = (),
    without: float | None = None,
) -> Any:
    """Return a field whose `metadata["help"]` is the help text on the command line, in a group of options.

    `among` holds the smallest and largest number, or the allowed words; `without` is an exclusive bound.
    """
    return field(default=default, metadata={"group": group, "help": help_text, "among": among, "without": without})


_data, _model, _optimiser, _run = (functools.partial(_option, group) for group in TRAINING_GROUPS)


Preset = Literal["tiny", "small", "paper"]
TRAINING_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "tiny": {
        "vocabulary_size": 1000,
        "embedding_size": 64,
        "hidden_size": 96,
        "alignment_size": 64,
        "maxout_size": 64,
        "model_size": 64,
        "layers": 2,
        "feedforward_size": 256,
        "updates": 1000,
        "warmup": 100,
        "validate_every": 250,
        "bleu_sentences": 50,
    },
    "small": {},
    "paper": {
        "vocabulary_size": 30_000,
        "embedding_size": 620,
        "hidden_size": 1000,
        "alignment_size": 1000,
        "maxout_size": 500,
        "batch_tokens": 4000,
        "dropout": 0.0,
        "label_smoothing": 0.0,
        "updates": 288_000,
        "validate_every": 5000,
        "checkpoint_every": 1000,
    },
}
"""Fields of `TrainingConfig` by the name of a preset: minutes of training; the defaults; the sizes of RNNsearch-50.

The batch of the paper is 80 sentences of at most 50 words.
"""


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of a training run; the same config, files and machine give the same weights."""

    data: tuple[str, ...] = _data(
        "files of training pairs, .tsv or .tsv.xz, one source<TAB>target per line; with PATH=WEIGHT, each pair of "
        "the file is used WEIGHT times per epoch on average"
    )
    validation: tuple[str, ...] = _data("files of validation pairs, in the format of the training files")
    output: str = _run(
        "folder of the training run, for checkpoints, the log, snapshots, and the finished model (in model/)"
    )

    skip_malformed: bool = _data(
        "leave out lines that are not source<TAB>target, even if they are more than 1 % of a file", False
    )

    start_from: str = _model(
        "folder of a model to continue from; training keeps its weights, sizes, attention and tokenizer, and "
        "ignores the sizes below; to change the tokenizer, set vocabulary_size or tokenizer",
        "",
    )
    vocabulary_size: int = _model(
        "number of pieces, K, in the SentencePiece vocabulary that both languages share; 0 means 8000, or, with "
        "start_from, that the vocabulary of that model is used",
        0,
        (0, LARGEST_VOCABULARY),
    )
    tokenizer: str = _model("tokenizer.model file to use instead of training a tokenizer", "")
    architecture: str = _model(
        "architecture: rnnsearch, which uses the next six options; transformer, which uses the four options "
        "after those six; or decomposable (a detector of translations), which uses embedding_size and model_size",
        "rnnsearch",
        ("rnnsearch", "transformer", "decomposable"),
    )
    embedding_size: int = _model("size of word embeddings, m", 256, (1, LARGEST_SIZE))
    hidden_size: int = _model(
        "number of units, n, of the decoder and of each direction of the encoder; with attention dot, each "
        "direction has only n / 2 units",
        512,
        (1, LARGEST_SIZE),
    )
    alignment_size: int = _model(
        "number of hidden units, n', that compute an additive energy; if attention is location, the largest number of "
        "source positions that can get attention",
        512,
        (1, LARGEST_SIZE),
    )
    maxout_size: int = _model(
        "number of units, l, of the maxout readout (the layer before the output)", 256, (1, LARGEST_SIZE)
    )
    attention: str = _model(
        f"kind of attention: {', '.join(ATTENTION_KINDS)}, or package.module:Class for a scorer class of your own",
        "additive",
    )
    readout_state: str = _model(
        "decoder state that the output is computed from: previous (s_{i-1}) or current (s_i)",
        "previous",
        ("previous", "current"),
    )
    model_size: int = _model(
        "number of units, d, of the residual stream of a transformer or of the layers of a detector",
        256,
        (1, LARGEST_SIZE),
    )
    heads: int = _model(
        "heads in each layer of a transformer; --model-size must be a multiple of this number", 4, (1, MOST_LAYERS)
    )
    layers: int = _model(
        "number of encoder layers of a transformer; its decoder has the same number", 3, (1, MOST_LAYERS)
    )
    feedforward_size: int = _model("hidden units of the feed-forward blocks of a transformer", 1024, (1, LARGEST_SIZE))
    dropout: float = _model(
        "dropout rate, applied to embeddings, annotations and readouts or, in a transformer, to the output of "
        "each block",
        0.1,
        (0, 1),
        without=1,
    )

    max_words: int = _data("leave out pairs in which either sentence has more than this many words", 50, (1, 10_000))
    batch_tokens: int = _optimiser(
        "size of a batch: the number of pairs times the length of the longest sentence, in pieces, padding included",
        2400,
        (1, _MANY),
    )
    updates: int = _optimiser("number of weight updates after which training ends", 20000, (1, _MANY))
    learning_rate: float = _optimiser("peak learning rate of Adam", 5e-3, (0, 10), without=0)
    matrix_rate: float = _optimiser(
        "learning rate of the optimiser Muon, as a multiple of learning_rate; Muon updates all matrices except "
        "the embeddings and the output layer; with 0, Adam updates all matrices",
        0.5,
        (0, 100),
    )
    warmup: int = _optimiser("number of updates during which the learning rate rises from 0", 500, (0, _MANY))
    final_rate: float = _optimiser("final learning rate, as a share of the peak", 0.02, (0, 1))
    decay_updates: int = _optimiser(
        "number of updates at the end of training during which the learning rate falls linearly from its peak; "
        "with 0, it falls along a cosine after the warmup",
        0,
        (0, _MANY),
    )
    label_smoothing: float = _optimiser(
        "label smoothing: probability that is spread evenly over the vocabulary", 0.1, (0, 1), without=1
    )
    guidance: float = _optimiser(
        "weight of the loss that guides attention towards word links learnt from the same pairs (guided "
        "alignment); 0 means no guidance",
        0.0,
        (0, LARGEST_GUIDANCE),
    )
    clip: float = _optimiser("largest norm of the gradient; longer gradients are scaled down", 1.0, (0, 1e6), without=0)
    seed: int = _run("seed of the weights, the order of the data and dropout", 1, (0, _LARGEST_SEED))

    validate_every: int = _run("updates between validations", 1000, (1, _MANY))
    patience: int = _run("stop after this many validations without a better BLEU; 0 means never", 5, (0, _MANY))
    bleu_sentences: int = _run("number of validation sentences translated for BLEU at each validation", 300, (0, _MANY))
    checkpoint_every: int = _run("updates between checkpoints", 250, (1, _MANY))
    average: int = _run(
        "for the finished model, average the weights of the last N checkpoints, the one at the end of training "
        "included; 0 takes the weights with the best validation score instead",
        0,
        (0, 100),
    )
    keep_at: tuple[int, ...] = _run(
        "numbers of updates after which the weights are saved (in float16, as a model folder in moments/); 0 "
        "saves them before the first update",
        (),
        (0, _MANY),
    )
    snapshots: int = _run(
        "number of snapshots after the start of training, evenly spaced on a logarithmic scale of updates; a "
        "snapshot stores attention and translations of fixed sentences",
        12,
        (0, 1000),
    )
    snapshot_sentences: tuple[str, ...] = _run(
        "sentence pairs for the snapshots, each as source<TAB>translation (default: ten short validation pairs)",
        (),
    )
    device: str = _run("device: auto, cpu, cuda, cuda:N or mps", "auto")
    precision: str = _run(
        "number format: bf16 (autocast), fp32, or auto, which chooses the faster one on this machine",
        "auto",
        bounds.PRECISIONS,
    )
    threads: int = _run("number of CPU threads; 0 leaves the choice to PyTorch", 0, (0, 1024))

    def __post_init__(self) -> None:
        """Raise AttnvizError, naming the field, unless every value has its type and is within its bounds."""
        try:
            self._check()
        except ValueError as error:
            raise AttnvizError(f"The training options are invalid: {error}.") from error

    def _check(self) -> None:
        """Raise ValueError where a value is wrong."""
        for each in dataclasses.fields(self):
            _check_value(each, getattr(self, each.name))
        for name in ("data", "validation"):
            if not getattr(self, name):
                raise ValueError(f"{name} must name at least one file")
        if self.guidance and self.architecture == "transformer":
            raise ValueError(
                "guidance needs a model with one attention distribution per step, and a transformer has many: set "
                "guidance to 0"
            )
        if self.architecture == "decomposable" and self.start_from:
            raise ValueError(
                "start_from is only for translators; a detector is always trained from random weights: leave out "
                "start_from"
            )
        if self.guidance and self.attention == "none":
            raise ValueError("guidance needs a model with attention: set guidance to 0")
        if self.start_from and Path(self.start_from).resolve() == Path(self.output).resolve() / TRAINED_MODEL:
            raise ValueError("start_from is the folder that the finished model would overwrite: give another output")
        self.model_config(self.vocabulary_size or DEFAULT_VOCABULARY)

    def model_config(self, vocabulary_size: int) -> TrainableConfig:
        """Return the config of the network.

        Args:
            vocabulary_size: Number of pieces of the tokenizer.
        """
        # Imported here because importing torch would slow down `--help`.
        from attnviz.network.model_config import CONFIGS

        kind = cast("type[TrainableConfig]", CONFIGS[self.architecture])
        own = {each.name: getattr(self, each.name) for each in dataclasses.fields(kind)}
        return kind(**own | {"vocabulary_size": vocabulary_size})

    def to_json(self) -> str:
        """Return the fields and the version of the file format as JSON."""
        return json.dumps({"version": TRAINING_VERSION} | self.to_dict(), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> TrainingConfig:
        """Return the config that `to_json` wrote.

        Args:
            text: The JSON.

        Returns:
            The config.

        Raises:
            AttnvizError: The text is something else.
        """
        try:
            fields = dict(json.loads(text))
        except (TypeError, ValueError, RecursionError) as error:
            raise AttnvizError("The text holds no training options.") from error
        check_version("The training config", fields.pop("version", None), TRAINING_VERSION)
        return cls.from_dict(fields)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary that JSON can encode."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> TrainingConfig:
        """Return the config with these decoded JSON fields; missing fields have their defaults.

        Args:
            fields: The fields by name.

        Returns:
            The config.

        Raises:
            AttnvizError: A field is unknown or invalid, or one without a default is missing.
        """
        if not isinstance(fields, dict):
            raise AttnvizError("The training config must be a dictionary.")
        known = {each.name: each.default for each in dataclasses.fields(cls)}
        odd = sorted({*fields} - {*known}) or [n for n in known if n not in fields and known[n] is dataclasses.MISSING]
        if odd:
            raise AttnvizError(f"The training option {odd[0]} is {'unknown' if odd[0] in fields else 'missing'}.")
        given: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in fields.items()}
        return cls(**given)


def _check_value(each: dataclasses.Field[Any], value: Any) -> None:
    """Raise ValueError unless `value` has the type of the field and is within its bounds."""
    name, among = each.name, each.metadata["among"]
    if each.type == "int":
        bounds.check_whole(name, value, *among)
    elif each.type == "float":
        bounds.check_real(name, value, *among, without=each.metadata["without"])
    elif each.type == "bool":
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, not {bounds.shortened_repr(value)}")
    elif each.type == "tuple[int, ...]":
        if not isinstance(value, tuple):
            raise ValueError(f"{name} must be whole numbers, not {bounds.shortened_repr(value)}")
        for one in value:
            bounds.check_whole(name, one, *among)
    elif among:
        bounds.check_one_of(name, value, among)
    else:
        texts = (value,) if each.type == "str" else value
        if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{name} must be text, not {bounds.shortened_repr(value)}")
