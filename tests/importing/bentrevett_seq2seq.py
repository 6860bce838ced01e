"""The recurrent translator of the PyTorch seq2seq tutorial, to write checkpoints for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

SOURCE = ("<unk>", "<pad>", "<sos>", "<eos>", "ein", "mann", "schläft", ".", "hund", "der", "im", "park")
TARGET = ("<unk>", "<pad>", "<sos>", "<eos>", "a", "man", "sleeps", ".", "dog", "the", "in", "park", "is")


class Encoder(nn.Module):
    def __init__(self, words: int, embedding: int, hidden: int, state: int) -> None:
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(words, embedding), nn.GRU(embedding, hidden, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, state)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        seen, last = self.rnn(self.embedding(ids))
        return seen, torch.tanh(self.fc(torch.cat([last[0], last[1]], dim=-1)))


class Attention(nn.Module):
    def __init__(self, hidden: int, state: int) -> None:
        super().__init__()
        self.attn_fc, self.v_fc = nn.Linear(2 * hidden + state, state), nn.Linear(state, 1, bias=False)

    def forward(self, state: Tensor, seen: Tensor) -> Tensor:
        asked = torch.cat([state.expand(len(seen), -1), seen], dim=-1)
        return self.v_fc(torch.tanh(self.attn_fc(asked)))[:, 0]


class Decoder(nn.Module):
    def __init__(self, words: int, embedding: int, hidden: int, state: int) -> None:
        super().__init__()
        self.attention, self.embedding = Attention(hidden, state), nn.Embedding(words, embedding)
        self.rnn = nn.GRU(2 * hidden + embedding, state)
        self.fc_out = nn.Linear(2 * hidden + state + embedding, words)

    def forward(self, word: Tensor, state: Tensor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        energies = self.attention(state, seen)
        context, embedded = torch.softmax(energies, dim=0) @ seen, self.embedding(word)
        _, following = self.rnn(torch.cat([embedded, context])[None, None], state[None, None])
        following = following[0, 0]
        return self.fc_out(torch.cat([following, context, embedded])), following, energies


class Seq2Seq(nn.Module):
    """One sentence at a time; sizes of the two sides differ."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.encoder, self.decoder = Encoder(len(SOURCE), 8, 10, 12), Decoder(len(TARGET), 6, 10, 12)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.6)

    @torch.no_grad()
    def force_decode(self, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits and energies of each step of forced decoding of `target`, which includes `<eos>`."""
        seen, state = self.encoder(torch.tensor(source))
        rows = []
        for word in (2, *target[:-1]):
            logits, state, energies = self.decoder(torch.tensor(word), state, seen)
            rows.append((logits, energies))
        return torch.stack([logits for logits, _ in rows]), torch.stack([energies for _, energies in rows])


def write_checkpoint(folder: Path, seed: int = 0) -> Seq2Seq:
    """Write a model with its vocabularies to `folder`, and return it."""
    model = Seq2Seq(seed)
    torch.save(model.state_dict(), folder / "tut3-model.pt")
    (folder / "source.txt").write_text("\n".join(SOURCE) + "\n", encoding="utf-8")
    (folder / "target.txt").write_text("\n".join(TARGET) + "\n", encoding="utf-8")
    return model
