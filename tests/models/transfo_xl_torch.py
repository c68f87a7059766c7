"""Transformer-XL in plain PyTorch, written from the paper and the published tensors, for decoder_suite_test.cpp.

usage: transfo_xl_torch.py <questions.json> <folder>
questions: a list of {name, config, ids ([sequences][tokens]), segments}, and perhaps the text of the first sequence,
which then gets a dump.safetensors for `heed verify`.
For each a folder <folder>/<name> is made with config.json, random weights in model.safetensors, and expected.safetensors as
suites/hf-tiny-models has it: input_ids, whole.log_probs and whole.hidden of one pass, segments.log_probs and
segments.mems.<layer> of `segments` passes in a row, loss of the one pass, and its gradients grad.<tensor>.
Every pair of a query and a key is computed by itself, in f64.
"""
import json
import math
import pathlib
import sys

import torch
from torch.nn import functional as F

from models_torch import write_safetensors


class TransformerXl:
    def __init__(self, c):
        self.c = c
        ends = c["cutoffs"] + [c["vocab_size"]]
        self.clusters = list(zip([0] + c["cutoffs"], ends))
        self.narrow = [c["d_embed"] // c["div_val"] ** i for i in range(len(ends))]
        self.one_table = c["div_val"] == 1
        self.projects = not self.one_table or c["d_embed"] != c["d_model"]
        self.t = {}
        self.make_tensors()

    def make(self, name, *shape):
        norm = name.endswith("layer_norm.weight")
        values = torch.randn(shape) * (0.3 if len(shape) == 1 else 1 / math.sqrt(shape[-1])) + norm
        self.t[name] = values.double().requires_grad_()

    def make_tensors(self):
        c, width = self.c, self.c["d_model"]
        inner = c["n_head"] * c["d_head"]
        for i, (begin, end) in enumerate(self.clusters):
            if not self.one_table:
                self.make(f"transformer.word_emb.emb_layers.{i}.weight", end - begin, self.narrow[i])
                self.make(f"crit.out_layers.{i}.bias", end - begin)
            if self.projects and (i == 0 or not self.one_table):
                self.make(f"transformer.word_emb.emb_projs.{i}", width, self.narrow[i])
            if self.projects and not c["tie_projs"][i]:
                self.make(f"crit.out_projs.{i}", width, self.narrow[i])
        if self.one_table:
            self.make("transformer.word_emb.emb_layers.0.weight", c["vocab_size"], c["d_embed"])
            self.make("crit.out_layers.0.bias", c["vocab_size"])
        if not c["tie_word_embeddings"]:
            for i in range(1 if self.one_table else len(self.clusters)):
                self.make(f"crit.out_layers.{i}.weight", *self.t[f"transformer.word_emb.emb_layers.{i}.weight"].shape)
        if len(self.clusters) > 1:
            self.make("crit.cluster_weight", len(self.clusters) - 1, c["d_embed"])
            self.make("crit.cluster_bias", len(self.clusters) - 1)
        if not c["untie_r"]:
            self.make("transformer.r_w_bias", c["n_head"], c["d_head"])
            self.make("transformer.r_r_bias", c["n_head"], c["d_head"])
        for i in range(c["n_layer"]):
            name = f"transformer.layers.{i}."
            self.make(name + "dec_attn.qkv_net.weight", 3 * inner, width)
            self.make(name + "dec_attn.r_net.weight", inner, width)
            self.make(name + "dec_attn.o_net.weight", width, inner)
            if c["untie_r"]:
                self.make(name + "dec_attn.r_w_bias", c["n_head"], c["d_head"])
                self.make(name + "dec_attn.r_r_bias", c["n_head"], c["d_head"])
            self.make(name + "pos_ff.CoreNet.0.weight", c["d_inner"], width)
            self.make(name + "pos_ff.CoreNet.0.bias", c["d_inner"])
            self.make(name + "pos_ff.CoreNet.3.weight", width, c["d_inner"])
            self.make(name + "pos_ff.CoreNet.3.bias", width)
            for norm in ("dec_attn", "pos_ff"):
                self.make(f"{name}{norm}.layer_norm.weight", width)
                self.make(f"{name}{norm}.layer_norm.bias", width)

    def embed(self, ids):
        rows = []
        for word in ids:
            cluster = next(i for i, (_, end) in enumerate(self.clusters) if word < end)
            table = 0 if self.one_table else cluster
            row = word if self.one_table else word - self.clusters[cluster][0]
            vector = self.t[f"transformer.word_emb.emb_layers.{table}.weight"][row]
            if self.projects:
                vector = self.t[f"transformer.word_emb.emb_projs.{table}"] @ vector
            rows.append(vector)
        return torch.stack(rows) * math.sqrt(self.c["d_model"])

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.t[name + ".layer_norm.weight"], self.t[name + ".layer_norm.bias"],
                            self.c["layer_norm_epsilon"])

    def attention(self, x, memory, name):
        c, t = self.c, self.t
        heads, width = c["n_head"], c["d_head"]
        states = torch.cat([memory, x])
        if c["pre_lnorm"]:
            states = self.norm(states, name)
        q, k, v = (states @ t[name + ".qkv_net.weight"].T).chunk(3, -1)
        q, k, v = (part.reshape(-1, heads, width) for part in (q[len(memory):], k, v))
        bias = name + "." if c["untie_r"] else "transformer."
        distance = len(memory) + torch.arange(len(x))[:, None] - torch.arange(len(states))[None]
        clamped = distance.clamp(max=c["clamp_len"]) if c["clamp_len"] > 0 else distance
        waves = 10000.0 ** (-torch.arange(0, c["d_model"], 2).double() / c["d_model"])
        angles = clamped[..., None].double() * waves
        r = torch.cat([angles.sin(), angles.cos()], -1) @ t[name + ".r_net.weight"].T
        r = r.reshape(len(x), len(states), heads, width)
        scores = torch.einsum("ihd,jhd->hij", q + t[bias + "r_w_bias"], k)
        scores = scores + torch.einsum("ihd,ijhd->hij", q + t[bias + "r_r_bias"], r)
        seen = distance >= 0
        if c["same_length"]:
            seen = seen & (distance < c["mem_len"])
        weights = (scores / math.sqrt(width)).masked_fill(~seen, -math.inf).softmax(-1)
        self.attentions.append(weights)
        return torch.einsum("hij,jhd->ihd", weights, v).flatten(1) @ t[name + ".o_net.weight"].T

    def hidden(self, ids, memory):
        """The last hidden states of a segment, and the memory after it."""
        c, x, kept = self.c, self.embed(ids), []
        self.attentions = []
        for i in range(c["n_layer"]):
            name = f"transformer.layers.{i}."
            kept.append(torch.cat([memory[i], x.detach()])[len(x):])
            y = x + self.attention(x, memory[i], name + "dec_attn")
            if not c["pre_lnorm"]:
                y = self.norm(y, name + "dec_attn")
            inner = self.norm(y, name + "pos_ff") if c["pre_lnorm"] else y
            inner = F.relu(F.linear(inner, self.t[name + "pos_ff.CoreNet.0.weight"], self.t[name + "pos_ff.CoreNet.0.bias"]))
            x = y + F.linear(inner, self.t[name + "pos_ff.CoreNet.3.weight"], self.t[name + "pos_ff.CoreNet.3.bias"])
            if not c["pre_lnorm"]:
                x = self.norm(x, name + "pos_ff")
        return x, kept

    def empty(self):
        return [torch.zeros(self.c["mem_len"], self.c["d_model"]).double() for _ in range(self.c["n_layer"])]

    def scores(self, x, cluster):
        begin, end = self.clusters[cluster]
        table = 0 if self.one_table else cluster
        rows = slice(begin, end) if self.one_table else slice(0, end - begin)
        owner = "transformer.word_emb.emb_layers" if self.c["tie_word_embeddings"] else "crit.out_layers"
        if self.projects:
            tied = self.c["tie_projs"][cluster]
            x = x @ self.t[f"transformer.word_emb.emb_projs.{table}" if tied else f"crit.out_projs.{cluster}"]
        words = x @ self.t[f"{owner}.{table}.weight"][rows].T + self.t[f"crit.out_layers.{table}.bias"][rows]
        if cluster == 0 and len(self.clusters) > 1:
            clusters = x @ self.t["crit.cluster_weight"].T + self.t["crit.cluster_bias"]
            words = torch.cat([words, clusters], -1)
        return words.log_softmax(-1)

    def log_probs(self, x):
        first = self.scores(x, 0)
        shortlist = self.clusters[0][1]
        parts = [first[:, :shortlist]]
        for i in range(1, len(self.clusters)):
            parts.append(first[:, shortlist + i - 1, None] + self.scores(x, i))
        return torch.cat(parts, -1)


def dump(question, model, path):
    """What `heed verify` compares, of the first sequence in one pass."""
    ids = question["ids"][0]
    x, _ = model.hidden(ids, model.empty())
    found = {f"attentions.{i}": weights for i, weights in enumerate(model.attentions)}
    found.update({"last_hidden_state": x, "logits": model.log_probs(x)})
    found = {name: value[None].detach().float() for name, value in found.items()}
    write_safetensors(path, {"input_ids": torch.tensor([ids]), **found}, {"text": question["text"]})


def answer(question, folder):
    folder.mkdir()
    c = question["config"]
    model = TransformerXl(c)
    (folder / "config.json").write_text(json.dumps(c))
    waves = {"transformer.pos_emb.inv_freq": 1 / (10000 ** (torch.arange(0.0, c["d_model"], 2.0) / c["d_model"]))}
    tensors = {**{name: value.detach().float() for name, value in model.t.items()}, **waves}
    write_safetensors(folder / "model.safetensors", dict(sorted(tensors.items())))
    for value in model.t.values():
        value.data = value.data.float().double()

    if "text" in question:
        dump(question, model, folder / "dump.safetensors")
    found, losses, whole, segments, states, memories = {}, [], [], [], [], []
    for ids in question["ids"]:
        x, _ = model.hidden(ids, model.empty())
        states.append(x)
        whole.append(model.log_probs(x))
        losses.append(F.nll_loss(whole[-1][:-1], torch.tensor(ids[1:]), reduction="none"))
        memory, parts = model.empty(), []
        length = len(ids) // question["segments"]
        for i in range(question["segments"]):
            x, memory = model.hidden(ids[i * length:(i + 1) * length], memory)
            parts.append(model.log_probs(x))
        segments.append(torch.cat(parts))
        memories.append(memory)
    loss = torch.cat(losses).mean()
    loss.backward()
    found = {"whole.log_probs": torch.stack(whole), "whole.hidden": torch.stack(states), "loss": loss[None],
             "segments.log_probs": torch.stack(segments)}
    for i in range(c["n_layer"]):
        found[f"segments.mems.{i}"] = torch.stack([memory[i] for memory in memories], 1)
    found.update({"grad." + name: value.grad for name, value in model.t.items()})
    found = {name: value.detach().float() for name, value in found.items()}
    write_safetensors(folder / "expected.safetensors", {"input_ids": torch.tensor(question["ids"]), **found})


if __name__ == "__main__":
    torch.manual_seed(1)
    with open(sys.argv[1]) as file:
        for each in json.load(file):
            answer(each, pathlib.Path(sys.argv[2]) / each["name"])
