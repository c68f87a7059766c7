"""PyTorch's answers to the questions of stack_torch_test.cpp: torch.nn's own Transformer layers, padded, in f32.

usage: transformer_torch.py <questions.json> <answers.json>
Lists of equal length. question: kind ("encoder", "decoder"), layers, heads, pre_norm, activation,
weights {name: {shape, values}} with our names, upstream, and the inputs of the kind:
  encoder  x {shape, values} and lengths
  decoder  the same, memory and memory_lengths
answer: output and a gradient for each weight and each of x and memory.
"""
import os
import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.nn.utils.stateless import functional_call

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from torch_answers import answer_all, with_gradients

PARTS = {  # theirs: ours
    "self_attn.in_proj_": ["attention.query_key_value."],
    "self_attn.out_proj.": ["attention.output."],
    "multihead_attn.in_proj_": ["cross_attention.query.", "cross_attention.key.", "cross_attention.value."],
    "multihead_attn.out_proj.": ["cross_attention.output."],
    "linear1.": ["feed_forward.up."],
    "linear2.": ["feed_forward.down."],
}
NORMS = {False: ["attention_norm", "feed_forward_norm"], True: ["attention_norm", "cross_norm", "feed_forward_norm"]}


def padded(x, lengths):
    return pad_sequence(x.split(lengths), batch_first=True)


def unpadded(x, lengths):
    return torch.cat([sequence[:length] for sequence, length in zip(x, lengths)])


def padding(lengths):
    """PyTorch's convention: True is ignored."""
    return torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]


def stack(question, weights, cross):
    """(module, its parameters made of our weights)"""
    width = weights["layer.0.attention_norm.weight"].shape[0]
    inner = weights["layer.0.feed_forward.up.weight"].shape[0]
    layer = (nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer)(
        width, question["heads"], inner, dropout=0, activation=question["activation"], batch_first=True,
        norm_first=question["pre_norm"])
    norm = nn.LayerNorm(width) if question["pre_norm"] else None
    module = (nn.TransformerDecoder if cross else nn.TransformerEncoder)(layer, question["layers"], norm)
    parameters = {}
    parts = dict(PARTS)
    for index, name in enumerate(NORMS[cross]):
        parts[f"norm{index + 1}."] = [name + "."]
    for name, _ in module.named_parameters():
        if name.startswith("norm."):
            parameters[name] = weights["final_norm." + name[len("norm."):]]
            continue
        _, index, part = name.split(".", 2)
        theirs = next(start for start in parts if part.startswith(start))
        kind = part[len(theirs):]
        parameters[name] = torch.cat([weights[f"layer.{index}.{ours}{kind}"] for ours in parts[theirs]])
    return module, parameters


def encode(question, weights, x, lengths):
    module, parameters = stack(question, weights, False)
    return functional_call(module, parameters, (x,), {"src_key_padding_mask": padding(lengths)})


def decode(question, weights, x, lengths, memory, memory_lengths):
    module, parameters = stack(question, weights, True)
    return functional_call(module, parameters, (x, memory), {
        "tgt_mask": nn.Transformer.generate_square_subsequent_mask(x.shape[1]),
        "tgt_key_padding_mask": padding(lengths),
        "memory_key_padding_mask": padding(memory_lengths)})


def answer(question):
    def leaf(tensor):
        return torch.tensor(tensor["values"]).reshape(tensor["shape"]).requires_grad_()

    weights = {name: leaf(tensor) for name, tensor in question["weights"].items()}
    inputs = {name: leaf(question[name]) for name in ("x", "memory") if name in question}
    lengths = question["lengths"]
    if question["kind"] == "decoder":
        memory_lengths = question["memory_lengths"]
        output = decode(question, weights, padded(inputs["x"], lengths), lengths,
                        padded(inputs["memory"], memory_lengths), memory_lengths)
    else:
        output = encode(question, weights, padded(inputs["x"], lengths), lengths)

    return with_gradients(unpadded(output, lengths), question["upstream"], {**weights, **inputs})


answer_all(answer)
