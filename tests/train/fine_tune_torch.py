"""Fine-tuning in PyTorch, for fine_tune_torch_test.cpp: AdamW, linear warm-up and decay, clipped gradients, no dropout.

questions: a list of {folder (config.json and model.safetensors of a BERT with a classifier), batches (each a list of
{ids, label}), learning_rate, weight_decay, warmup (steps), clip}; the run has one step per batch.
answers: {losses: [of each step, before its update]}. Computed in f64.
"""
import json
import pathlib
import struct
import sys

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(tests / "support"), str(tests / "models")]
from models_torch import Model
from torch_answers import answer_all


def read_safetensors(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", entry
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(bytearray(data[8 + size + begin:8 + size + end]), dtype=torch.float32)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def answer(question):
    folder = pathlib.Path(question["folder"])
    config = {"hidden_act": "gelu", "layer_norm_eps": 1e-12, "type_vocab_size": 2,
              **json.loads((folder / "config.json").read_text())}
    model = Model(config, "ForSequenceClassification").double()
    model.load_state_dict({name: value.double() for name, value in read_safetensors(folder / "model.safetensors").items()})

    batches, warmup = question["batches"], question["warmup"]
    decays = [[p for p in model.parameters() if (p.dim() > 1) == matrix] for matrix in (True, False)]
    optimizer = torch.optim.AdamW([dict(params=decays[0], weight_decay=question["weight_decay"]),
                                   dict(params=decays[1], weight_decay=0)], lr=question["learning_rate"])
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: step / warmup if step < warmup else (len(batches) - step) / (len(batches) - warmup))
    losses = []
    for batch in batches:
        ids = pad_sequence([torch.tensor(row["ids"]) for row in batch], batch_first=True)
        mask = torch.arange(ids.shape[1]) < torch.tensor([[len(row["ids"])] for row in batch])
        _, logits = model.logits(model.base(ids, torch.zeros_like(ids), mask)[-1])
        loss = F.cross_entropy(logits, torch.tensor([row["label"] for row in batch]))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), question["clip"])
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return {"losses": losses}


torch.set_num_threads(1)  # small products: more threads only wait for each other
answer_all(answer)
