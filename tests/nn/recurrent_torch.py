"""PyTorch's answers to the questions of recurrent_test.cpp.

usage: recurrent_torch.py <questions.json> <answers.json>
Lists of equal length. question: kind ("RNN" or "GRU"), dtype, in, width, layers, bidirectional, lengths, x [N * in],
upstream [N * out], weights {name: values}. answer: output [N * out], x (its gradient) and a gradient for each weight.
"""
import os
import sys

import torch
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from torch_answers import answer_all, with_gradients


def answer(question):
    dtype = getattr(torch, question["dtype"])
    lengths = question["lengths"]

    def tensor(values, *shape):
        return torch.tensor(values, dtype=dtype).reshape(shape)

    model = getattr(torch.nn, question["kind"])(
        question["in"], question["width"], question["layers"], bidirectional=question["bidirectional"]).to(dtype)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensor(question["weights"].pop(name), *parameter.shape))
    assert not question["weights"], f"PyTorch has no {list(question['weights'])}"

    x = tensor(question["x"], sum(lengths), question["in"]).requires_grad_()
    packed, _ = model(pack_sequence(x.split(lengths), enforce_sorted=False))
    output = torch.cat(unpack_sequence(packed))
    return with_gradients(output, question["upstream"], {**dict(model.named_parameters()), "x": x})


answer_all(answer)
