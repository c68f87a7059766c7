"""How often PyTorch's vector of a sentence changes with its company: padded batches and threads, as in same_bits.cpp.

usage: torch_half.py <model folder> <sentences.jsonl, from heed tokenize> <model.onnx to write>
The model is the independent BERT of tests/models/models_torch.py in f32, and mean pooling.
"""
import json
import pathlib
import struct
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/models"))
from models_torch import Bert, TYPES, WEIGHTS  # noqa: E402


class Embedder(torch.nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, ids, mask):
        hidden = self.bert(ids, torch.zeros_like(ids), mask > 0)[-1]
        WEIGHTS.clear()
        kept = mask[..., None].to(hidden.dtype)
        return (hidden * kept).sum(1) / kept.sum(1)


def load(folder):
    config = json.loads((folder / "config.json").read_text())
    data = (folder / "model.safetensors").read_bytes()
    length, = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__" or name.endswith("position_ids"):
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(data[begin:end]), dtype=TYPES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"]).float()
    bert = Bert(config, True)
    bert.load_state_dict(tensors)
    return Embedder(bert).eval()


def embed_all(model, sentences, order, batch):
    rows = [None] * len(sentences)
    for begin in range(0, len(order), batch):
        chosen = order[begin:begin + batch]
        longest = max(len(sentences[i]) for i in chosen)
        ids = torch.tensor([sentences[i] + [0] * (longest - len(sentences[i])) for i in chosen])
        mask = torch.tensor([[1] * len(sentences[i]) + [0] * (longest - len(sentences[i])) for i in chosen])
        with torch.no_grad():
            for i, row in zip(chosen, model(ids, mask)):
                rows[i] = row.numpy().tobytes()
    return rows


model = load(pathlib.Path(sys.argv[1]))
with open(sys.argv[2]) as file:
    sentences = [json.loads(line)["ids"] for line in file]
example = torch.tensor([[101, 2054, 102], [101, 102, 0]]), torch.tensor([[1, 1, 1], [1, 1, 0]])
torch.onnx.export(model, example, sys.argv[3], opset_version=14, input_names=["ids", "mask"], output_names=["vector"],
                  dynamic_axes={"ids": {0: "b", 1: "s"}, "mask": {0: "b", 1: "s"}, "vector": {0: "b"}})
in_order = list(range(len(sentences)))
shuffled = [i * 7919 % len(sentences) for i in in_order]
alone = None
for threads in (1, 2):
    torch.set_num_threads(threads)
    for name, order, batch in (("alone", in_order, 1), ("batches of 32", in_order, 32),
                               ("batches of 256", in_order, 256), ("shuffled, batches of 32", shuffled, 32)):
        rows = embed_all(model, sentences, order, batch)
        alone = alone or rows
        different = sum(a != b for a, b in zip(rows, alone))
        print(f"PyTorch       {name:<26} {threads} {'thread ' if threads == 1 else 'threads'}  "
              f"{different:4} of {len(rows)} differ", flush=True)
