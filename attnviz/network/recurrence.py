"""GRUs over whole sequences, without and with attention, with hand-written gradients, for training; one GRU step.

PyTorch's autograd would record a dozen operations at every time step and multiply out each weight's gradient once per
step. The two autograd functions store what the backward pass needs for all steps, so that every weight gradient is one
large matrix product. Both compute torch.nn.GRU's equations, which differ from the paper's in the roles of z and 1 - z
and in where the reset gate acts:

    r = sigmoid(x_r + U_r s + b_r),  z = sigmoid(x_z + U_z s + b_z)
    candidate = tanh(x_n + r * (U_n s + b_n)),  s' = (1 - z) * candidate + z * s

With attention, each step also computes energies, softmax and context vector, and the backward pass their gradients. The
energies are those of the `FusedScorer`s of `network.scorers`, so both modules change together:

    additive: e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j),  general: e_ij = s_{i-1} . P h_j

Matrix products use the autocast type where autocast is on; states and their gradients stay in float32 (float64 in
tests).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnviz.network.derivatives import tanh_


def _product_dtype(weight: Tensor) -> torch.dtype:
    """Return the type of matrix products: autocast's where it is on, else that of `weight`."""
    device_type = weight.device.type
    return torch.get_autocast_dtype(device_type) if torch.is_autocast_enabled(device_type) else weight.dtype


def gate_factors(states: Tensor, gates: Tensor, candidates: Tensor, recurrents: Tensor) -> Tensor:
    """Return the factors that turn d loss / d s_i into the gradients of step i, unit by unit, (T, ..., 4n).

    The four blocks lead to the pre-activations of the candidate, of r and of z, and to U_n s + b_n. They are computed
    for all steps before the backward loop, so that a step of it is one product with all four. `states` (T, ..., n) are
    those before each step, `gates` (T, ..., 2n) are r and z, `recurrents` (T, ..., n) are U_n s + b_n. The first three
    blocks are the gradient of the input half, the last three that of the recurrent half.
    """
    n = candidates.shape[-1]
    reset, update = gates[..., :n], gates[..., n:]
    factors = torch.empty(*candidates.shape[:-1], 4 * n, dtype=candidates.dtype, device=candidates.device)
    slope = torch.mul(1 - update, 1 - candidates.square(), out=factors[..., :n])
    inner = torch.mul(slope, reset, out=factors[..., 3 * n :])
    torch.mul(inner * recurrents, 1 - reset, out=factors[..., n : 2 * n])
    torch.mul((states - candidates) * update, 1 - update, out=factors[..., 2 * n : 3 * n])
    return factors


def gru_gates(inputs: Tensor, recurrent: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return r, z and the candidate, (..., n) each, given both halves of the gates with biases, (..., 3n) each."""
    n = recurrent.shape[-1] // 3
    reset, update = torch.sigmoid(inputs[..., : 2 * n] + recurrent[..., : 2 * n]).split(n, dim=-1)
    return reset, update, tanh_(torch.addcmul(inputs[..., 2 * n :], reset, recurrent[..., 2 * n :]))


def gru_step(inputs: Tensor, recurrent: Tensor, states: Tensor) -> Tensor:
    """Return the states (R, n) after `states`, given both halves of the gates with biases, (R, 3n) each."""
    _, update, candidate = gru_gates(inputs, recurrent)
    return torch.lerp(candidate, states, update)


def _input_gradient(flow: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the input half of `flow` (..., 4n) in torch's gate order r, z, candidate: (..., 3n)."""
    n = flow.shape[-1] // 4
    return torch.cat([flow[..., n : 3 * n], flow[..., :n]], dim=-1).to(dtype)


class GRUSequence(torch.autograd.Function):
    """D independent GRUs (directions of an encoder, or one decoder) over T steps of a batch of B."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, initial: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the states (T, D, B, n).

        `inputs` (T, D, B, 3n): the input half of the gates (r, z, candidate) with biases; `initial` (D, B, n); `weight`
        (D, 3n, n) and `bias` (D, 3n): the recurrent half, as in torch.nn.GRU.
        """
        steps, directions, batch, _ = inputs.shape
        n = initial.shape[-1]
        dtype = _product_dtype(weight)
        with torch.autocast(weight.device.type, enabled=False):
            matrix = weight.to(dtype).transpose(1, 2)
            offset = bias.to(dtype)[:, None]
            states = initial.new_empty(steps + 1, directions, batch, n)
            gates = initial.new_empty(steps, directions, batch, 2 * n)
            candidates = initial.new_empty(steps, directions, batch, n)
            hidden = torch.empty(steps, directions, batch, 3 * n, dtype=dtype, device=weight.device)
            states[0] = initial
            for i in range(steps):
                torch.baddbmm(offset, states[i].to(dtype), matrix, out=hidden[i])
                gate = torch.add(inputs[i, ..., : 2 * n], hidden[i, ..., : 2 * n], out=gates[i]).sigmoid_()
                candidate = torch.mul(gate[..., :n], hidden[i, ..., 2 * n :], out=candidates[i])
                candidate.add_(inputs[i, ..., 2 * n :]).tanh_()
                torch.lerp(candidate, states[i], gate[..., n:], out=states[i + 1])
        ctx.save_for_backward(states, gates, candidates, hidden, weight)
        ctx.input_dtype, ctx.product_dtype = inputs.dtype, dtype
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the gradients of `inputs`, `initial`, `weight` and `bias` from that of the states (T, D, B, n)."""
        states, gates, candidates, hidden, weight = ctx.saved_tensors
        steps, directions, batch, n = candidates.shape
        with torch.autocast(weight.device.type, enabled=False):
            matrix = weight.to(ctx.product_dtype)
            factors = gate_factors(states[:-1], gates, candidates, hidden[..., 2 * n :])
            factors = factors.unflatten(-1, (4, n))
            flow = torch.empty(steps, directions, batch, 4 * n, dtype=ctx.product_dtype, device=weight.device)
            grad = torch.zeros_like(states[0])
            for i in reversed(range(steps)):
                grad += grad_states[i]
                torch.mul(factors[i], grad[..., None, :], out=flow[i].unflatten(-1, (4, n)))
                grad.mul_(gates[i, ..., n:]).add_(torch.bmm(flow[i, ..., n:], matrix))
            flat = flow[..., n:].transpose(0, 1).reshape(directions, steps * batch, 3 * n)
            previous_states = states[:-1].to(ctx.product_dtype).transpose(0, 1).reshape(directions, steps * batch, n)
            grad_weight = torch.bmm(flat.transpose(1, 2), previous_states).to(weight.dtype)
            grad_bias = flat.sum(1).to(weight.dtype)
        return _input_gradient(flow, ctx.input_dtype), grad, grad_weight, grad_bias


class AttentiveGRUSequence(torch.autograd.Function):
    """The decoder's recurrence with attention at every step, under teacher forcing."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        initial: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        weight: Tensor,
        bias: Tensor,
        query: Tensor | None,
        score: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Return the states (Ty, B, n) and the alignment (Ty, B, Tx).

        `inputs` (Ty, B, 3n): the previous word's half of the gates; `initial` (B, n): s_0; `keys` (B, Tx, n'): U_a h_j,
        or P h_j with n' = n where `query` is None (*general* attention); `values` (B, Tx, 3n): the annotations times
        the context's columns of the gates, so that a step only takes a weighted sum of rows; `mask` (B, Tx): 0 for a
        piece and -inf for padding; `weight` (3n, n), `bias` (3n,): the recurrent half; `query` W_a (n', n) and `score`
        v_a (n',).
        """
        steps, batch, _ = inputs.shape
        n, length = initial.shape[-1], keys.shape[1]
        dtype, exact = _product_dtype(weight), initial.dtype
        additive = query is not None
        with torch.autocast(weight.device.type, enabled=False):
            stacked = torch.cat([weight, query]) if query is not None else weight
            matrix = stacked.to(dtype).t()
            keys, values = keys.to(dtype), values.to(dtype)
            offset = bias.to(exact)
            states = initial.new_empty(steps + 1, batch, n)
            gates = initial.new_empty(steps, batch, 2 * n)
            candidates = initial.new_empty(steps, batch, n)
            recurrents = initial.new_empty(steps, batch, n)
            alignment = initial.new_empty(steps, batch, length)
            activations = keys.new_empty(steps if additive else 0, batch, length, keys.shape[-1])
            score_vector = score.to(dtype) if score is not None else keys.new_empty(0)
            states[0] = initial
            for i in range(steps):
                hidden = states[i].to(dtype) @ matrix
                if additive:
                    torch.add(keys, hidden[:, None, 3 * n :], out=activations[i]).tanh_()
                    energies = (activations[i].view(-1, keys.shape[-1]) @ score_vector).view(batch, length)
                else:
                    energies = torch.bmm(keys, states[i].to(dtype)[..., None])[..., 0]
                weights = torch.softmax(energies.to(exact) + mask, -1, out=alignment[i])
                context_part = torch.bmm(weights.to(dtype)[:, None], values)[:, 0]
                incoming = torch.add(inputs[i], context_part).to(exact)
                recurrent = hidden[:, : 3 * n].to(exact).add_(offset)
                recurrents[i] = recurrent[:, 2 * n :]
                gate = torch.add(incoming[:, : 2 * n], recurrent[:, : 2 * n], out=gates[i]).sigmoid_()
                candidate = candidates[i]
                torch.addcmul(incoming[:, 2 * n :], gate[:, :n], recurrent[:, 2 * n :], out=candidate).tanh_()
                torch.lerp(candidate, states[i], gate[:, n:], out=states[i + 1])
        ctx.save_for_backward(
            states, gates, candidates, recurrents, alignment, activations, keys, values, stacked, score_vector
        )
        ctx.input_dtype, ctx.product_dtype, ctx.additive = inputs.dtype, dtype, additive
        return states[1:], alignment

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_alignment: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all inputs except `mask`, from those of states (Ty, B, n), alignment (Ty, B, Tx)."""
        states, gates, candidates, recurrents, alignment, activations, keys, values, stacked, score_vector = (
            ctx.saved_tensors
        )
        steps, batch, n = candidates.shape
        dtype = ctx.product_dtype
        with torch.autocast(stacked.device.type, enabled=False):
            matrix = stacked.to(dtype)
            factors = gate_factors(states[:-1], gates, candidates, recurrents).unflatten(-1, (4, n))
            # The context's columns in the order of the factors: candidate, r, z.
            values = values.roll(n, -1)
            flow = torch.empty(steps, batch, 4 * n + stacked.shape[0] - 3 * n, dtype=dtype, device=keys.device)
            grad_energies = torch.empty_like(alignment)
            curvature = torch.zeros_like(keys, dtype=alignment.dtype)
            grad = torch.zeros_like(states[0])
            for i in reversed(range(steps)):
                grad += grad_states[i]
                torch.mul(factors[i], grad[:, None], out=flow[i, :, : 4 * n].unflatten(-1, (4, n)))
                grad_weights = torch.bmm(values, flow[i, :, : 3 * n, None])[..., 0].to(alignment.dtype)
                grad_weights += grad_alignment[i]
                weighted = alignment[i] * grad_weights
                energy = torch.addcmul(
                    weighted, alignment[i], weighted.sum(-1, keepdim=True), value=-1, out=grad_energies[i]
                )
                low_precision = energy.to(dtype)
                if ctx.additive:
                    # d tanh = 1 - tanh^2. The gradients of the energies sum to 0 over j, so the 1 cancels.
                    slopes = activations[i].square()
                    curvature.addcmul_(slopes, low_precision[..., None])
                    torch.mul(torch.bmm(low_precision[:, None], slopes)[:, 0], -score_vector, out=flow[i, :, 4 * n :])
                grad.mul_(gates[i, :, n:]).add_(flow[i, :, n:] @ matrix)
                if not ctx.additive:
                    grad += torch.bmm(low_precision[:, None], keys)[:, 0]
            previous_states = states[:-1].to(dtype)
            flat = flow[..., n:].reshape(steps * batch, -1)
            grad_stacked = (flat.t() @ previous_states.view(steps * batch, n)).to(stacked.dtype)
            grad_bias = flat[:, : 3 * n].sum(0).to(stacked.dtype)
            grad_inputs = _input_gradient(flow[..., : 4 * n], dtype)
            grad_values = torch.bmm(alignment.to(dtype).permute(1, 2, 0), grad_inputs.transpose(0, 1))
            if ctx.additive:
                total = grad_energies.sum(0)[..., None]
                grad_keys = ((total - curvature) * score_vector).to(dtype)
                grad_score = grad_energies.to(dtype).view(1, -1) @ activations.view(-1, keys.shape[-1])
                grad_query, grad_vector = grad_stacked[3 * n :], grad_score[0].to(stacked.dtype)
            else:
                grad_keys = torch.bmm(grad_energies.to(dtype).permute(1, 2, 0), previous_states.transpose(0, 1))
                grad_query = grad_vector = None
        return (
            grad_inputs.to(ctx.input_dtype),
            grad,
            grad_keys,
            grad_values,
            None,
            grad_stacked[: 3 * n],
            grad_bias,
            grad_query,
            grad_vector,
        )
