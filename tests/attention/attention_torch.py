"""PyTorch's answers to the questions of torch_test.cpp: attention over a padded batch, with masks, in f32.

usage: attention_torch.py <questions.json> <answers.json>
Lists of equal length. question: tensors {name: {shape, values}} (null is -inf), query_lengths, key_lengths, upstream,
options (see scores() and visible_keys()). answer: output and, for every tensor but "mask", its gradient.
B sequences, H heads, I queries, J keys, D width.
"""
import math
import os
import sys

import torch
from torch.nn.functional import _scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from torch_answers import answer_all, with_gradients


def padded(x, lengths):
    """[N, heads, D] to [B, heads, longest, D]."""
    return pad_sequence(x.split(lengths), batch_first=True).transpose(1, 2)


def unpadded(x, lengths):
    return torch.cat([sequence[:, :length].transpose(0, 1) for sequence, length in zip(x, lengths)])


def t5_buckets(distance, buckets, bidirectional, max_distance):
    """As published with T5: half of the buckets exact, the others logarithmic."""
    first = torch.zeros_like(distance)
    if bidirectional:
        buckets //= 2
        first = (distance > 0).long() * buckets
        steps = distance.abs()
    else:
        steps = (-distance).clamp(min=0)
    exact = buckets // 2
    ratio = torch.log(steps.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = (exact + (ratio * (buckets - exact)).long()).clamp(max=buckets - 1)
    return first + torch.where(steps < exact, steps, far)


def rotate(x, interleaved):
    """[B, heads, T, D] turned as complex numbers."""
    pairs = x.shape[-1] // 2
    frequencies = 10000.0 ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    angles = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * frequencies
    turn = torch.polar(torch.ones_like(angles), angles).to(torch.complex64)
    if interleaved:
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (pairs, 2)).contiguous()) * turn).flatten(-2)
    turned = torch.complex(x[..., :pairs], x[..., pairs:]) * turn
    return torch.cat([turned.real, turned.imag], -1)


def scores(q, k, t, options, distance):
    """[B, H, I, J] before the mask."""
    scale = options.get("scale", 1 / math.sqrt(q.shape[-1]))
    if "additive_weight" in t:
        hidden = (q @ t["query_weight"].T + t["query_bias"])[:, :, :, None] + (k @ t["key_weight"].T)[:, :, None]
        s = (torch.tanh(hidden) * t["additive_weight"]).sum(-1)
    elif "bilinear_weight" in t:
        s = torch.einsum("bhid,de,bhje->bhij", q, t["bilinear_weight"], k)
    else:
        s = q @ k.transpose(-2, -1) * scale
    if "relative_keys" in t:
        reach = t["relative_keys"].shape[0] // 2
        rows = t["relative_keys"][distance.clamp(-reach, reach) + reach]  # [B, I, J, D]
        s = s + torch.einsum("bhid,bijd->bhij", q, rows) * scale
        if options.get("relative_queries"):
            s = s + torch.einsum("bhjd,bijd->bhij", k, rows) * scale
    if "soft_cap" in options:
        s = options["soft_cap"] * torch.tanh(s / options["soft_cap"])
    if "bias" in t:
        s = s + t["bias"]
    if "alibi_slopes" in options:
        s = s - torch.tensor(options["alibi_slopes"])[:, None, None] * distance[:, None].abs()
    if "bucket_table" in t:
        table = t["bucket_table"]
        buckets = t5_buckets(distance, table.shape[0], options["bidirectional"], options["max_distance"])
        s = s + table[buckets].permute(0, 3, 1, 2)
    return s


def visible_keys(t, options, distance, query_lengths, key_lengths):
    """[B, 1 or H, I, J] bool. Padded queries see everything: their rows are cut off, and must not become NaN."""
    batch, queries, keys = distance.shape
    visible = torch.arange(keys) < torch.tensor(options.get("visible_lengths", key_lengths))[:, None, None]
    if "window" in options:
        left, right = options["window"]
        visible = visible & (distance >= -left) & (distance <= right)
    if options.get("causal"):
        visible = visible & (distance <= 0)
    visible = visible.expand(batch, queries, keys)[:, None]
    if "mask" in t:
        visible = visible & (t["mask"] > 0)
    return visible | (torch.arange(queries) >= torch.tensor(query_lengths)[:, None])[:, None, :, None]


def answer(question):
    t = {}
    for name, tensor in question["tensors"].items():
        values = [-math.inf if value is None else value for value in tensor["values"]]
        t[name] = torch.tensor(values).reshape(tensor["shape"]).requires_grad_(name != "mask")
    options, query_lengths, key_lengths = question["options"], question["query_lengths"], question["key_lengths"]

    q, k, v = padded(t["q"], query_lengths), padded(t["k"], key_lengths), padded(t["v"], key_lengths)
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    if "rotary" in options:
        q, k = (rotate(x, options["rotary"] == "interleaved") for x in (q, k))
    # The queries are the last of the keys.
    positions = torch.arange(q.shape[2]) + (torch.tensor(key_lengths) - torch.tensor(query_lengths))[:, None]
    distance = torch.arange(k.shape[2]) - positions[:, :, None]  # [B, I, J]
    visible = visible_keys(t, options, distance, query_lengths, key_lengths)
    if options["torch_kernel"]:
        output = _scaled_dot_product_attention(q, k, v, visible.expand(-1, q.shape[1], -1, -1))[0]
    else:
        output = scores(q, k, t, options, distance).masked_fill(~visible, -math.inf).softmax(-1) @ v

    learned = {name: tensor for name, tensor in t.items() if name != "mask"}
    return with_gradients(unpadded(output, query_lengths), question["upstream"], learned)


answer_all(answer)
