#!/usr/bin/env python3
"""What constrained output costs, end to end: heed generate with and without a constraint, interleaved.

  race_constraints.py build/release/bin/heed TOKENIZER [--rounds 9] [--tokens 128]
TOKENIZER is a folder with GPT-2's vocab.json and merges.txt; the model is of GPT-2's smallest shape, with random weights. A
token's time is what a text of so many more tokens takes more than one of 16: reading the weights and the prompt falls out,
finding the masks does not. Texts are sampled with another seed in every round. Prints the time of a token without a
constraint, and of each constraint by how much it is longer, on the clock and of processors: the median of the rounds
[min to max]."""
import argparse
import array
import itertools
import json
import os
import random
import resource
import shutil
import statistics
import struct
import subprocess
import tempfile
import time

SHORT = 16
LAYERS, WIDTH, VOCABULARY, POSITIONS = 12, 768, 50257, 1024
PERSON = {"type": "object", "required": ["name", "age", "address", "notes"], "properties": {
    "name": {"type": "string", "minLength": 40}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "address": {"type": "object", "required": ["street", "city"], "properties": {
        "street": {"type": "string", "minLength": 40}, "city": {"type": "string", "minLength": 40}}},
    "notes": {"type": "array", "minItems": 1000, "items": {"type": "string", "pattern": "^[a-z ]{1,40}$"}}}}
CONSTRAINTS = {
    "none": [],
    "a schema of a person with an address": ["--json-schema", json.dumps(PERSON)],
    "a grammar of sums": ["--grammar", 'root ::= sum (", " sum){1000,}\nsum ::= item ([-+*/] item)*\n'
                                       'item ::= [0-9]+ | "(" sum ")"'],
    "a regular expression of words": ["--regex", "([A-Za-z]+ ){1000,}"],
}


def write_model(folder, tokenizer):
    """Normal numbers of 0.02, a million that repeat; norms that change nothing."""
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(os.path.join(tokenizer, name), folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, file)
    shapes = {"wte.weight": [VOCABULARY, WIDTH], "wpe.weight": [POSITIONS, WIDTH], "ln_f.weight": [WIDTH], "ln_f.bias": [WIDTH]}
    for layer in range(LAYERS):
        for name, inputs, outputs in (("attn.c_attn", 1, 3), ("attn.c_proj", 1, 1), ("mlp.c_fc", 1, 4), ("mlp.c_proj", 4, 1)):
            shapes[f"h.{layer}.{name}.weight"] = [inputs * WIDTH, outputs * WIDTH]
            shapes[f"h.{layer}.{name}.bias"] = [outputs * WIDTH]
        for name, kind in itertools.product(("ln_1", "ln_2"), ("weight", "bias")):
            shapes[f"h.{layer}.{name}.{kind}"] = [WIDTH]
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header["transformer." + name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    draw = random.Random(1)
    noise = array.array("f", (draw.gauss(0, 0.02) for _ in range(1 << 20))).tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for name, shape in shapes.items():
            size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
            if len(shape) == 1:
                one = 1.0 if ".ln_" in "." + name and name.endswith("weight") else 0.0
                file.write(array.array("f", [one]).tobytes() * shape[0])
                continue
            while size > 0:
                file.write(noise[:size])
                size -= min(size, len(noise))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("tokenizer")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=128)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        write_model(folder, arguments.tokenizer)
        output = os.path.join(folder, "written.jsonl")

        def seconds(flags, seed, tokens):
            """On the clock, and of processors."""
            start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([arguments.heed, "generate", "--model", folder, "Once upon a time", "--do-sample", "--seed",
                            str(seed), "--max-new-tokens", str(tokens), "--min-new-tokens", str(tokens), "--output", output,
                            *flags], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken = time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            with open(output, encoding="utf-8") as file:
                written = json.loads(file.readline())["tokens"]
            assert written == tokens, f"{written} tokens instead of {tokens}: {flags}"
            return taken

        found = {name: [] for name in CONSTRAINTS}
        for round_ in range(arguments.rounds + 1):
            for name, flags in CONSTRAINTS.items():
                whole, short = seconds(flags, round_, SHORT + arguments.tokens), seconds(flags, round_, SHORT)
                if round_ > 0:  # the first round prepares
                    found[name].append([(a - b) / arguments.tokens for a, b in zip(whole, short)])
    free = found.pop("none")
    for i, clock in enumerate(("clock", "processors")):
        times = [1e3 * each[i] for each in free]
        print(f"{clock}: {statistics.median(times):.2f} [{min(times):.2f} to {max(times):.2f}] ms a token, free")
        for name, own in found.items():
            more = [100 * (a[i] / b[i] - 1) for a, b in zip(own, free)]
            print(f"{clock}: {name}: {statistics.median(more):+.1f} [{min(more):+.1f} to {max(more):+.1f}] %")


if __name__ == "__main__":
    main()
