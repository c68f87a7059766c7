"""BERT and its relatives in plain PyTorch, written from the published architectures, for models_torch_test.cpp.

usage: models_torch.py <questions.json> <folder>
questions: a list of {name, config (config.json as it will be saved), architecture (the end of the class name: "Model",
"ForMaskedLM" ...), ids, lengths, types (optional), labels (optional), store ("F32", "F16", "BF16"), options (see save),
metadata (optional)}.
For each a folder <folder>/<name> is made with config.json, random weights in model.safetensors, and expected.safetensors:
hidden.0 ... hidden.L [N, C] (0 is what goes into the first layer), pooled [B, C], logits, loss. With "gradients": {label,
steps, kept (1: the word stays in the baseline), padding} also integrated_gradients [N] of one sequence.
With metadata (one sequence only) there is also dump.safetensors, as `heed verify` reads it.
Sequences are padded and masked here, as PyTorch needs it, and computed in f64.
"""
import json
import math
import pathlib
import struct
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64}
WEIGHTS = []  # what attention() found, call by call, [B, H, T, T]
ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "relu": F.relu,
    "silu": F.silu,
    "tanh": torch.tanh,
}


def group(**parts):
    module = nn.Module()
    for name, part in parts.items():
        module.add_module(name, part)
    return module


def split_heads(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)  # [B, H, T, D]


def attention(q, k, v, heads, mask, distances=None, kind="absolute", bias=0):
    """softmax(q k^T / sqrt(d) + bias) v; `distances` embeds query position - key position + (rows - 1) / 2."""
    q, k, v = split_heads(q, heads), split_heads(k, heads), split_heads(v, heads)
    scores = q @ k.transpose(-1, -2)
    if kind != "absolute":
        positions = torch.arange(q.shape[2])
        vectors = distances(positions[:, None] - positions[None] + (distances.num_embeddings - 1) // 2)
        scores = scores + torch.einsum("bhld,lrd->bhlr", q, vectors)
        if kind == "relative_key_query":
            scores = scores + torch.einsum("bhrd,lrd->bhlr", k, vectors)
    scores = scores / math.sqrt(q.shape[-1]) + bias
    weights = scores.masked_fill(~mask[:, None, None], -math.inf).softmax(-1)
    WEIGHTS.append(weights)
    return (weights @ v).transpose(1, 2).flatten(2)


class Encoder(nn.Module):
    """The parts that the models share are functions of the configuration c; each model has its own names."""

    def __init__(self, c):
        super().__init__()
        self.c = c

    def tables(self, width, eps, types):
        c = self.c
        parts = dict(word_embeddings=nn.Embedding(c["vocab_size"], width),
                     position_embeddings=nn.Embedding(c["max_position_embeddings"], width))
        if types:
            parts["token_type_embeddings"] = nn.Embedding(types, width)
        return group(**parts, LayerNorm=nn.LayerNorm(width, eps))

    def positions(self, ids):
        return torch.arange(ids.shape[1]).expand_as(ids)

    def embed(self, ids, types):
        e = self.embeddings
        x = e.word_embeddings(ids)
        if hasattr(e, "token_type_embeddings"):
            x = x + e.token_type_embeddings(types)
        if self.c.get("position_embedding_type", "absolute") == "absolute":
            x = x + e.position_embeddings(self.positions(ids))
        return e.LayerNorm(x)


class Bert(Encoder):
    def __init__(self, c, pooler):
        super().__init__(c)
        width, eps = c["hidden_size"], c["layer_norm_eps"]
        self.embeddings = self.tables(c.get("embedding_size", width), eps, c["type_vocab_size"])
        if c.get("embedding_size", width) != width:
            self.embeddings_project = nn.Linear(c["embedding_size"], width)
        self.encoder = group(layer=nn.ModuleList(self.layer() for _ in range(c["num_hidden_layers"])))
        if pooler:
            self.pooler = group(dense=nn.Linear(width, width))

    def layer(self):
        c = self.c
        width, eps = c["hidden_size"], c["layer_norm_eps"]
        projections = {name: nn.Linear(width, width) for name in ("query", "key", "value")}
        if c.get("position_embedding_type", "absolute") != "absolute":
            projections["distance_embedding"] = nn.Embedding(2 * c["max_position_embeddings"] - 1,
                                                             width // c["num_attention_heads"])
        return group(
            attention=group(self=group(**projections),
                            output=group(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps))),
            intermediate=group(dense=nn.Linear(width, c["intermediate_size"])),
            output=group(dense=nn.Linear(c["intermediate_size"], width), LayerNorm=nn.LayerNorm(width, eps)))

    def forward(self, ids, types, mask):
        c = self.c
        x = self.embed(ids, types)
        if hasattr(self, "embeddings_project"):
            x = self.embeddings_project(x)
        states = [x]
        for layer in self.encoder.layer:
            own = getattr(layer.attention, "self")
            a = attention(own.query(x), own.key(x), own.value(x), c["num_attention_heads"], mask,
                          getattr(own, "distance_embedding", None), c.get("position_embedding_type", "absolute"))
            out = layer.attention.output
            x = out.LayerNorm(out.dense(a) + x)
            inner = ACTIVATIONS[c["hidden_act"]](layer.intermediate.dense(x))
            x = layer.output.LayerNorm(layer.output.dense(inner) + x)
            states.append(x)
        return states

    def pool(self, x):
        return torch.tanh(self.pooler.dense(x[:, 0]))


class Roberta(Bert):
    def positions(self, ids):
        pad = self.c["pad_token_id"]
        real = ids.ne(pad).long()
        return real.cumsum(1) * real + pad


class DistilBert(Encoder):
    def __init__(self, c, pooler):
        super().__init__(c)
        width = c["dim"]
        self.embeddings = self.tables(width, 1e-12, 0)
        self.transformer = group(layer=nn.ModuleList(group(
            attention=group(**{name: nn.Linear(width, width) for name in ("q_lin", "k_lin", "v_lin", "out_lin")}),
            sa_layer_norm=nn.LayerNorm(width, 1e-12),
            ffn=group(lin1=nn.Linear(width, c["hidden_dim"]), lin2=nn.Linear(c["hidden_dim"], width)),
            output_layer_norm=nn.LayerNorm(width, 1e-12)) for _ in range(c["n_layers"])))

    def forward(self, ids, types, mask):
        x = self.embed(ids, types)
        states = [x]
        for layer in self.transformer.layer:
            a = layer.attention
            x = layer.sa_layer_norm(
                a.out_lin(attention(a.q_lin(x), a.k_lin(x), a.v_lin(x), self.c["n_heads"], mask)) + x)
            inner = ACTIVATIONS[self.c["activation"]](layer.ffn.lin1(x))
            x = layer.output_layer_norm(layer.ffn.lin2(inner) + x)
            states.append(x)
        return states


class Albert(Encoder):
    def __init__(self, c, pooler):
        super().__init__(c)
        width, eps = c["hidden_size"], c["layer_norm_eps"]
        self.embeddings = self.tables(c["embedding_size"], eps, c["type_vocab_size"])

        def block():
            return group(
                full_layer_layer_norm=nn.LayerNorm(width, eps),
                attention=group(**{name: nn.Linear(width, width) for name in ("query", "key", "value", "dense")},
                                LayerNorm=nn.LayerNorm(width, eps)),
                ffn=nn.Linear(width, c["intermediate_size"]),
                ffn_output=nn.Linear(c["intermediate_size"], width))

        self.encoder = group(
            embedding_hidden_mapping_in=nn.Linear(c["embedding_size"], width),
            albert_layer_groups=nn.ModuleList(
                group(albert_layers=nn.ModuleList(block() for _ in range(c["inner_group_num"])))
                for _ in range(c["num_hidden_groups"])))
        if pooler:
            self.pooler = nn.Linear(width, width)

    def forward(self, ids, types, mask):
        c = self.c
        x = self.encoder.embedding_hidden_mapping_in(self.embed(ids, types))
        states = [x]
        for i in range(c["num_hidden_layers"]):
            number = int(i / (c["num_hidden_layers"] / c["num_hidden_groups"]))
            for block in self.encoder.albert_layer_groups[number].albert_layers:
                a = block.attention
                y = attention(a.query(x), a.key(x), a.value(x), c["num_attention_heads"], mask)
                x = a.LayerNorm(a.dense(y) + x)
                x = block.full_layer_layer_norm(block.ffn_output(ACTIVATIONS[c["hidden_act"]](block.ffn(x))) + x)
            states.append(x)
        return states

    def pool(self, x):
        return torch.tanh(self.pooler(x[:, 0]))


class MPNet(Encoder):
    def __init__(self, c, pooler):
        super().__init__(c)
        width, eps, inner = c["hidden_size"], c["layer_norm_eps"], c["intermediate_size"]
        self.embeddings = self.tables(width, eps, 0)
        self.encoder = group(
            layer=nn.ModuleList(group(
                attention=group(attn=group(**{name: nn.Linear(width, width) for name in "qkvo"}),
                                LayerNorm=nn.LayerNorm(width, eps)),
                intermediate=group(dense=nn.Linear(width, inner)),
                output=group(dense=nn.Linear(inner, width), LayerNorm=nn.LayerNorm(width, eps)))
                for _ in range(c["num_hidden_layers"])),
            relative_attention_bias=nn.Embedding(c["relative_attention_num_buckets"], c["num_attention_heads"]))
        if pooler:
            self.pooler = group(dense=nn.Linear(width, width))

    def positions(self, ids):
        real = ids.ne(1).long()
        return real.cumsum(1) * real + 1

    def bias(self, length):
        """[1, H, T, T]: a bucket for each near distance, wider and wider ones to 128, half of them for each side."""
        positions = torch.arange(length)
        distance = positions[None] - positions[:, None]  # key - query
        half = self.c["relative_attention_num_buckets"] // 2
        exact = half // 2
        far = distance.abs()
        wide = exact + (torch.log(far.float() / exact) / math.log(128 / exact) * (half - exact)).long()
        bucket = torch.where(far < exact, far, wide.clamp(max=half - 1)) + (distance > 0) * half
        return self.encoder.relative_attention_bias(bucket).permute(2, 0, 1)[None]

    def forward(self, ids, types, mask):
        x = self.embed(ids, types)
        states, bias = [x], self.bias(ids.shape[1])
        for layer in self.encoder.layer:
            a = layer.attention.attn
            y = attention(a.q(x), a.k(x), a.v(x), self.c["num_attention_heads"], mask, bias=bias)
            x = layer.attention.LayerNorm(a.o(y) + x)
            inner = ACTIVATIONS[self.c["hidden_act"]](layer.intermediate.dense(x))
            x = layer.output.LayerNorm(layer.output.dense(inner) + x)
            states.append(x)
        return states

    pool = Bert.pool


class Model(nn.Module):
    """An encoder under its prefix, and a head. What HuggingFace ties is tied by the functions that use it."""

    MODELS = {"bert": (Bert, "bert"), "roberta": (Roberta, "roberta"), "xlm-roberta": (Roberta, "roberta"),
              "electra": (Bert, "electra"), "distilbert": (DistilBert, "distilbert"), "albert": (Albert, "albert"),
              "mpnet": (MPNet, "mpnet")}

    def __init__(self, c, architecture):
        super().__init__()
        self.c, self.architecture, self.type = c, architecture, c["model_type"]
        kind, self.prefix = self.MODELS[self.type]
        pools = architecture in ("Model", "ForNextSentencePrediction") or architecture == "ForSequenceClassification"
        if architecture == "ForSequenceClassification" and self.type not in ("bert", "albert"):
            pools = False
        if self.type in ("distilbert", "electra"):
            pools = False
        self.pools = pools
        self.add_module(self.prefix, kind(c, pools))
        width = c.get("hidden_size", c.get("dim"))
        labels = len(c.get("id2label", "12"))
        if architecture == "ForTokenClassification":
            self.classifier = nn.Linear(width, labels)
        elif architecture == "ForQuestionAnswering":
            self.qa_outputs = nn.Linear(width, 2)
        elif architecture == "ForNextSentencePrediction":
            self.cls = group(seq_relationship=nn.Linear(width, 2))
        elif architecture == "ForPreTraining":
            self.discriminator_predictions = group(dense=nn.Linear(width, width), dense_prediction=nn.Linear(width, 1))
        elif architecture == "ForSequenceClassification":
            self.add_classifier(width, labels)
        elif architecture == "ForMaskedLM":
            self.add_masked_lm(width, c["vocab_size"])

    @property
    def base(self):
        return getattr(self, self.prefix)

    def add_classifier(self, width, labels):
        if self.type in ("bert", "albert"):
            self.classifier = nn.Linear(width, labels)
        elif self.type == "distilbert":
            self.pre_classifier, self.classifier = nn.Linear(width, width), nn.Linear(width, labels)
        else:
            self.classifier = group(dense=nn.Linear(width, width), out_proj=nn.Linear(width, labels))

    def add_masked_lm(self, width, vocabulary):
        eps = self.c.get("layer_norm_eps", 1e-12)
        narrow = self.c.get("embedding_size", width)

        def biased(**parts):
            module = group(**parts)
            module.register_parameter("bias", nn.Parameter(torch.zeros(vocabulary)))
            return module

        if self.type == "bert":
            self.cls = group(predictions=biased(
                transform=group(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps))))
        elif self.type == "distilbert":
            self.vocab_transform, self.vocab_layer_norm = nn.Linear(width, width), nn.LayerNorm(width, 1e-12)
            self.vocab_projector = biased()
        elif self.type == "electra":
            self.generator_predictions = group(dense=nn.Linear(width, narrow), LayerNorm=nn.LayerNorm(narrow, eps))
            self.generator_lm_head = biased()
        elif self.type == "albert":
            self.predictions = biased(dense=nn.Linear(width, narrow), LayerNorm=nn.LayerNorm(narrow, eps))
        else:
            self.lm_head = biased(dense=nn.Linear(width, width), layer_norm=nn.LayerNorm(width, eps))
        if not self.c.get("tie_word_embeddings", True):  # asked of BERT only
            self.cls.predictions.decoder = nn.Linear(width, vocabulary, bias=False)

    def word_logits(self, x):
        table = self.base.embeddings.word_embeddings.weight
        act = ACTIVATIONS[self.c.get("hidden_act", self.c.get("activation"))]
        if self.type == "bert":
            p = self.cls.predictions
            if hasattr(p, "decoder"):
                table = p.decoder.weight
            return p.transform.LayerNorm(act(p.transform.dense(x))) @ table.T + p.bias
        if self.type == "distilbert":
            return self.vocab_layer_norm(act(self.vocab_transform(x))) @ table.T + self.vocab_projector.bias
        if self.type == "electra":
            g = self.generator_predictions
            return g.LayerNorm(F.gelu(g.dense(x))) @ table.T + self.generator_lm_head.bias
        if self.type == "albert":
            p = self.predictions
            return p.LayerNorm(act(p.dense(x))) @ table.T + p.bias
        h = self.lm_head
        return h.layer_norm(F.gelu(h.dense(x))) @ table.T + h.bias

    def sequence_logits(self, x):
        if self.pools:
            return self.classifier(self.base.pool(x))
        if self.type == "distilbert":
            return self.classifier(F.relu(self.pre_classifier(x[:, 0])))
        act = F.gelu if self.type == "electra" else torch.tanh
        return self.classifier.out_proj(act(self.classifier.dense(x[:, 0])))

    def logits(self, x):
        """(per token?, values)"""
        if self.architecture == "ForTokenClassification":
            return True, self.classifier(x)
        if self.architecture == "ForQuestionAnswering":
            return True, self.qa_outputs(x)
        if self.architecture == "ForMaskedLM":
            return True, self.word_logits(x)
        if self.architecture == "ForPreTraining":
            d = self.discriminator_predictions
            return True, d.dense_prediction(ACTIVATIONS[self.c["hidden_act"]](d.dense(x)))
        if self.architecture == "ForNextSentencePrediction":
            return False, self.cls.seq_relationship(self.base.pool(x))
        if self.architecture == "ForSequenceClassification":
            return False, self.sequence_logits(x)
        return False, None


def write_safetensors(path, tensors, metadata=None):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    widths = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    for name, tensor in tensors.items():
        dtype = next(key for key, value in TYPES.items() if value == tensor.dtype)
        raw = tensor.contiguous().view(widths[tensor.element_size()]).numpy().tobytes()
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def save(folder, question, tensors):
    """options: "bare" leaves the prefix away, "gamma" names norms as the first converters did, "copies" adds what old
    files have besides, "shards" splits the file."""
    options, architecture = question.get("options", []), question["architecture"]
    prefix = Model.MODELS[question["config"]["model_type"]][1] + "."
    if architecture == "Model" and "prefixed" not in options:
        tensors = {name[len(prefix):]: value for name, value in tensors.items()}
    if "gamma" in options:
        tensors = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
                   for name, value in tensors.items()}
    if "copies" in options:
        tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]
        tensors["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"]
        tensors["cls.seq_relationship.weight"] = torch.zeros(2, question["config"]["hidden_size"])
        tensors["bert.embeddings.position_ids"] = torch.zeros(1, 4)
    if "shards" not in options:
        write_safetensors(folder / "model.safetensors", tensors)
        return
    names = list(tensors)
    weight_map = {}
    for number, part in enumerate([names[::2], names[1::2]], 1):
        file = f"model-{number:05}-of-00002.safetensors"
        write_safetensors(folder / file, {name: tensors[name] for name in part})
        weight_map.update({name: file for name in part})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def randomize(model, store):
    for name, parameter in sorted(model.named_parameters()):
        norm = "norm" in name.lower() and name.endswith("weight")
        deviation = 0.3 if name.endswith("bias") or norm else 1 / math.sqrt(parameter.shape[-1])
        values = torch.randn(parameter.shape) * deviation + (1 if norm else 0)
        parameter.data = values.to(TYPES[store])
    return {name: parameter.data.clone() for name, parameter in model.named_parameters()}


def integrated_gradients(model, padded, mask, label, steps, kept, padding):
    """(x - b) times the mean gradient of a logit along the path from b to x, both in the place of the word vectors."""
    table = model.base.embeddings.word_embeddings
    end = table(padded[0]).detach()
    start = torch.where(torch.tensor(kept).bool()[:, None], end, table.weight[padding].detach())
    total = torch.zeros_like(end)
    for step in range(steps):
        x = (start + (step + 0.5) / steps * (end - start)).requires_grad_()
        hook = table.register_forward_hook(lambda *_: x)
        model.logits(model.base(*padded, mask)[-1])[1][0, label].backward()
        hook.remove()
        total += x.grad
    return ((end - start) * total / steps).sum(-1).flatten()


def dump(path, metadata, ids, types, states, pooled, logits):
    """Batch axes and names as HuggingFace has them."""
    tensors = {f"hidden_states.{i}": state for i, state in enumerate(states)}
    tensors.update({f"attentions.{i}": weights for i, weights in enumerate(WEIGHTS)})
    tensors.update(last_hidden_state=states[-1], pooler_output=pooled, logits=logits)
    tensors = {name: value.detach().float() for name, value in tensors.items() if value is not None}
    tensors.update(input_ids=ids, token_type_ids=types, attention_mask=torch.ones_like(ids))
    write_safetensors(path, tensors, metadata)


def answer(question, folder):
    folder.mkdir()
    config = dict(question["config"])
    model = Model(config, question["architecture"])
    tensors = randomize(model, question.get("store", "F32"))
    (folder / "config.json").write_text(json.dumps(config))
    save(folder, question, tensors)

    model.double()
    lengths = question["lengths"]
    pad = config.get("pad_token_id", 0)
    padded = [pad_sequence(torch.tensor(values).split(lengths), batch_first=True, padding_value=filler)
              for values, filler in ((question["ids"], pad), (question.get("types", [0] * sum(lengths)), 0))]
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    WEIGHTS.clear()
    states = model.base(*padded, mask)
    found = {f"hidden.{i}": state[mask] for i, state in enumerate(states)}
    if model.pools:
        found["pooled"] = model.base.pool(states[-1])
    per_token, logits = model.logits(states[-1])
    if logits is not None:
        found["logits"] = logits[mask] if per_token else logits
    if question["architecture"] == "ForSequenceClassification":
        labels = torch.tensor(question["labels"]) if "labels" in question else torch.arange(len(lengths))
        found["loss"] = F.cross_entropy(logits, labels % logits.shape[1])
    if "gradients" in question:
        found["integrated_gradients"] = integrated_gradients(model, padded, mask, **question["gradients"])
    if "metadata" in question:
        dump(folder / "dump.safetensors", question["metadata"], *padded, states, found.get("pooled"), logits)
    write_safetensors(folder / "expected.safetensors", {name: value.detach().float() for name, value in found.items()})


if __name__ == "__main__":
    torch.manual_seed(1)
    with open(sys.argv[1]) as file:
        for each in json.load(file):
            answer(each, pathlib.Path(sys.argv[2]) / each["name"])
