"""Driver for the peer in benchmarks: eole's RNN with additive ("mlp") attention, driven over a pipe.

It runs in an environment of its own, where eole is installed and this project is not:

    python -m venv peer && peer/bin/pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
    peer/bin/pip install --no-deps eole==0.6.4    # its own pins are older; then what it imports, torch left as it is:
    peer/bin/pip install huggingface_hub pydantic protobuf pyyaml configargparse pyonmttok pyahocorasick ctranslate2 \
        rapidfuzz rich six sacrebleu sentencepiece safetensors pandas fastapi uvicorn waitress torch-optimi \
        subword-nmt tokenizers

Each line of standard input is one request in JSON, each line of standard output its answer. Everything timed here is
eole's own code: its model, loss, optimizer and trainer step, and its translator with the attention returned.
"""

import json
import os
import sys
import time
import types
from collections import Counter
from typing import Any

SPECIAL = ("<unk>", "<blank>", "<s>", "</s>")


class Eole:
    def __init__(self, vocabulary: int, embedding: int, hidden: int, precision: str, threads: int) -> None:
        """Build the network: `hidden` is the decoder's size, its attention's, its readout's and the encoder's total."""
        for name in ("spacy", "fasttext"):  # imported by parts of eole that are not used here
            sys.modules[name] = types.ModuleType(name)
        import pyonmttok
        import torch
        from eole.config.data import Dataset
        from eole.config.run import TrainConfig
        from eole.models.model import EncoderDecoderModel

        self.torch = torch
        torch.set_num_threads(threads)
        recurrent = {"rnn_type": "GRU", "layers": 1, "hidden_size": hidden}
        decoder = {"decoder_type": "rnn", "global_attention": "mlp", "bidirectional_encoder": True, **recurrent}
        sizes = {"architecture": "custom", "layers": 1, "hidden_size": hidden, "word_vec_size": embedding}
        learning = {"optim": "adam", "learning_rate": 1e-3, "dropout": [0.1], "label_smoothing": 0.1}
        self.config = TrainConfig(
            data={"corpus": Dataset(path_src=os.devnull, path_tgt=os.devnull)},
            src_vocab="unused",
            tgt_vocab="unused",
            model={**sizes, "encoder": {"encoder_type": "brnn", **recurrent}, "decoder": decoder},
            training={**learning, "max_grad_norm": 1.0, "compute_dtype": precision, "gpu_ranks": []},
        )
        words = Counter({f"piece{index}": vocabulary - index for index in range(vocabulary - len(SPECIAL))})
        pieces = pyonmttok.build_vocab_from_tokens(words, maximum_size=vocabulary, special_tokens=list(SPECIAL))
        self.vocabularies = {
            "src": pieces,
            "tgt": pieces,
            "decoder_start_token": "<s>",
            "specials": dict(zip(("unk_token", "pad_token", "bos_token", "eos_token"), SPECIAL, strict=True)),
        }
        self.model = EncoderDecoderModel.for_training(
            self.config.model, self.vocabularies, self.config.training, device_id=-1
        )

    def sizes(self) -> dict[str, int]:
        total = sum(weight.numel() for weight in self.model.parameters())
        tables = (self.model.src_emb, self.model.tgt_emb)
        return {"weights": total, "body": total - sum(w.numel() for table in tables for w in table.parameters())}

    def load_batches(self, batches: list[dict[str, list[list[int]]]]) -> dict[str, Any]:
        """Take the batches to train on: rows of piece ids, 4 or more, each sentence without its special pieces."""
        from eole.trainer import Trainer, TrainerConfig
        from eole.utils.loss import LossCompute
        from eole.utils.optimizers import Optimizer

        bos, eos = (self.vocabularies["tgt"].lookup_token(token) for token in ("<s>", "</s>"))
        self.batches = []
        for batch in batches:
            source, lengths = self._padded([[*ids, eos] for ids in batch["source"]])
            target, _ = self._padded([[bos, *ids, eos] for ids in batch["target"]])
            numbers = list(range(len(lengths)))
            named = {"cid": ["corpus" for _ in numbers], "cid_line_number": numbers, "ind_in_bucket": numbers}
            ids = {"src": source, "srclen": lengths, "tgt": target}
            self.batches.append({**ids, **named, "images": None, "prefix_len": None})
        optimizer = Optimizer.from_config(self.model, self.config)
        loss = LossCompute.from_config(self.config, self.model, self.vocabularies)
        settings = TrainerConfig(norm_method="tokens", n_gpu=0, gpu_rank=0, dropout=[0.1], attention_dropout=[0.0])
        self.trainer = Trainer(self.model, loss, loss, types.SimpleNamespace(transforms=[]), [], optimizer, settings)
        return {}

    def train(self) -> dict[str, float]:
        """Update the weights once on each batch; return seconds, and target pieces with the closing one."""
        from eole.utils import Statistics

        total, report = Statistics(), Statistics()
        started = time.perf_counter()
        for batch in self.batches:
            tokens = int(batch["tgt"][:, 1:].ne(self.vocabularies["tgt"].lookup_token("<blank>")).sum())
            self.trainer._train_step([batch], tokens, total, report)
        return {"seconds": time.perf_counter() - started, "tokens": total.n_tokens, "loss": total.loss / total.n_tokens}

    def load_translator(self, beam: int, steps: int) -> dict[str, Any]:
        """Prepare to translate; every translation takes `steps` steps, since the closing piece is made unlikely."""
        from eole.config.run import PredictConfig
        from eole.predict import GNMTGlobalScorer, Translator

        self.model.eval()
        with self.torch.no_grad():
            self.model.generator.bias[self.vocabularies["tgt"].lookup_token("</s>")] = -1e4
        config = PredictConfig.model_construct(
            beam_size=beam, max_length=steps, max_length_ratio=0, min_length=0, report_align=False, optional_eos=[]
        )
        self.translator = Translator(
            self.model,
            self.vocabularies,
            config,
            self.config.model,
            device_id=-1,
            global_scorer=GNMTGlobalScorer.from_config(config),
            report_score=False,
            logger=types.SimpleNamespace(info=lambda _: None),
        )
        return {}

    def translate(self, sources: list[list[int]], repeats: int) -> dict[str, Any]:
        """Translate the sentences as one batch, `repeats` times; return the seconds of each, and the steps taken."""
        seconds = []
        for _ in range(repeats):
            started = time.perf_counter()
            source, lengths = self._padded(sources)
            batch = {"src": source, "srclen": lengths, "ind_in_bucket": list(range(len(sources)))}
            result = self.translator.predict_batch(batch, attn_debug=True)
            attention = [found[0].numpy() for found in result["attention"]]
            seconds.append(time.perf_counter() - started)
        return {"seconds": seconds, "steps": len(attention[0])}

    def _padded(self, rows: list[list[int]]) -> tuple[Any, Any]:
        pad = self.vocabularies["src"].lookup_token("<blank>")
        longest = max(map(len, rows))
        ids = self.torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
        return ids, self.torch.tensor([len(row) for row in rows])


def main() -> None:
    """Answer requests until standard input ends; whatever eole prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer: Eole | None = None
    for line in sys.stdin:
        request = json.loads(line)
        action = request.pop("action")
        if action == "build":
            peer = Eole(**request)
            answer = peer.sizes()
        else:
            answer = getattr(peer, action)(**request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
