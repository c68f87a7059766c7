"""Models with random weights, texts and rows, as small as they come: what the commands of a page need to be run."""
import json
import math
import os
import struct
import subprocess

# The head that a verb needs, and its labels; others need none.
HEADS = {"tag": ["tag", "B-LOC", "I-LOC"], "fill-mask": ["fill-mask"], "answer": ["answer"],
         "rerank": ["classify", "relevance"], "zero-shot": ["classify", "entailment", "neutral", "contradiction"],
         "translate": ["translate"]}
WRITERS = ["generate", "score", "chat"]
# A language model that knows every character of its conversation.
WRITER = {
    "task": "lm", "max_steps": 2, "data": {"train": "conversations.jsonl"},
    "model": {"architecture": {"model_type": "gpt2", "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 256}},
    "tokenizer": {"train": "character", "chat_template": "chat.jinja"}}
TEMPLATE = """{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}\
{% if add_generation_prompt %}assistant: {% endif %}"""


class SmallModels:
    """Fills the folder `work`: `DIR` is a model for the verb that fit() was told last, `GPT` one that writes,
    `path/to/model` one to train from; dump.safetensors is of `DIR` for verify."""

    def __init__(self, heed, make_model, work):
        self.heed, self.make_model, self.work = heed, make_model, work
        self.write("texts.txt", "a cat\na kitten\n")
        for split in ["train", "dev", "test"]:
            self.write(f"{split}.tsv", "text\tlabel\n" + "the fox jumps\tgood\na lazy dog\tbad\n" * 10)
        os.makedirs(self.at("path/to"))
        os.symlink(self.encoder(["none"]), self.at("path/to/model"))
        self.write_dump("a cat")
        self.write("chat.jinja", TEMPLATE)
        letters = "".join(map(chr, range(32, 127)))
        turns = {"messages": [{"role": "user", "content": letters}, {"role": "assistant", "content": "yes"}]}
        self.write("conversations.jsonl", (json.dumps(turns) + "\n") * 10)
        self.write("writer.json", json.dumps({**WRITER, "output": "GPT"}))
        self.run([heed, "train", "writer.json"])

    def fit(self, verb):
        """Makes DIR a model for this verb."""
        folder = self.at("GPT") if verb in WRITERS else self.encoder(HEADS.get(verb, ["none"]))
        if os.path.lexists(self.at("DIR")):
            os.remove(self.at("DIR"))
        os.symlink(folder, self.at("DIR"))

    def at(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, command):
        done = subprocess.run(command, cwd=self.work, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def encoder(self, head):
        folder = self.at("-".join(head))
        if not os.path.isdir(folder):
            self.run([self.make_model, folder, *head])
        return folder

    def write_dump(self, text):
        """dump.safetensors: what goes into the first layer for a text, computed here."""
        folder = self.encoder(["none"])
        ids = json.loads(self.run([self.heed, "tokenize", "--model", folder, text]))["ids"]
        weights = read_tensors(os.path.join(folder, "model.safetensors"))
        word, position, kind, scale, shift = (weights["embeddings." + name] for name in (
            "word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight",
            "LayerNorm.bias"))
        width = len(scale)

        def row(table, index):
            return table[index * width:(index + 1) * width]

        states = []
        for place, token in enumerate(ids):
            sums = [sum(parts) for parts in zip(row(word, token), row(position, place), row(kind, 0))]
            mean = sum(sums) / width
            deviation = math.sqrt(sum((value - mean) ** 2 for value in sums) / width + 1e-12)
            states += [(value - mean) / deviation * a + b for value, a, b in zip(sums, scale, shift)]
        header = json.dumps({
            "__metadata__": {"text": text},
            "input_ids": {"dtype": "I64", "shape": [len(ids)], "data_offsets": [0, 8 * len(ids)]},
            "hidden_states.0": {"dtype": "F32", "shape": [len(ids), width],
                                "data_offsets": [8 * len(ids), 8 * len(ids) + 4 * len(states)]}}).encode()
        with open(self.at("dump.safetensors"), "wb") as file:
            file.write(struct.pack(f"<Q{len(header)}s", len(header), header))
            file.write(struct.pack(f"<{len(ids)}q{len(states)}f", *ids, *states))


def read_tensors(path):
    """Of a safetensors file of F32, by name, each as one flat tuple."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    places = {name: info["data_offsets"] for name, info in header.items()}
    return {name: struct.unpack_from(f"<{(end - begin) // 4}f", data, 8 + size + begin)
            for name, (begin, end) in places.items()}
