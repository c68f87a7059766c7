#!/usr/bin/env python3
"""Races whole programs: a file of sentences to a file of vectors, start-up and output included.

  race_embed.py build/release/bin/heed MODEL SENTENCES [--rounds 5] [--threads 2] [--python COMMAND]
heed embed against HuggingFace transformers, which runs batches of 32 in the order of the file and again sorted by length;
interleaved. Prints the median seconds [min-max] of each and its ratio to heed's, round by round; for transformers also
without what it takes to start and to load. COMMAND runs a python that has torch and transformers: it is given this file,
MODEL and SENTENCES by their paths relative to the current folder.

  race_embed.py --transformers MODEL SENTENCES order|length OUTPUT
is the other side: it prints the seconds that it took after loading."""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

BATCH = 32


def transformers(model_folder, sentences, order, output):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModel.from_pretrained(model_folder, dtype=torch.float32).eval()
    begun = time.perf_counter()
    with open(sentences, encoding="utf-8") as file:
        texts = file.read().splitlines()
    places = list(range(len(texts)))
    if order == "length":
        places.sort(key=lambda place: len(texts[place]))
    vectors = [None] * len(texts)
    with torch.inference_mode():
        for first in range(0, len(texts), BATCH):
            batch = places[first:first + BATCH]
            inputs = tokenizer([texts[place] for place in batch], padding=True, truncation=True, return_tensors="pt")
            mask = inputs["attention_mask"][:, :, None]
            mean = (model(**inputs).last_hidden_state * mask).sum(1) / mask.sum(1)
            for place, vector in zip(batch, torch.nn.functional.normalize(mean).tolist()):
                vectors[place] = vector
    with open(output, "w", encoding="utf-8") as file:
        for vector in vectors:
            file.write(json.dumps(vector) + "\n")
    print(time.perf_counter() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("sentences")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--python", default="/usr/bin/python3")
    arguments = parser.parse_args()
    environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
    times = {}

    def run(name, command):
        begun = time.perf_counter()
        printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
        times.setdefault(name, []).append(time.perf_counter() - begun)
        return printed

    with tempfile.TemporaryDirectory(dir=".") as folder:
        folder = os.path.relpath(folder)
        for round_ in range(arguments.rounds + 1):
            if round_ == 1:  # the first round prepares
                times.clear()
            run("heed", [arguments.heed, "embed", "--model", arguments.model, "--input", arguments.sentences, "--quiet",
                         "--threads", str(arguments.threads), "--output", f"{folder}/heed.jsonl"])
            for order in ("order", "length"):
                printed = run(f"transformers by {order}",
                              [*shlex.split(arguments.python), os.path.relpath(__file__), "--transformers", arguments.model,
                               arguments.sentences, order, f"{folder}/{order}.jsonl"])
                times.setdefault(f"transformers by {order}, loaded", []).append(float(printed.splitlines()[-1]))
    for name, values in times.items():
        ratio = statistics.median(theirs / ours for ours, theirs in zip(times["heed"], values))
        print(f"{name}: {statistics.median(values):.2f} s [{min(values):.2f}-{max(values):.2f}], {ratio:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--transformers"] and len(sys.argv) == 6:
        transformers(*sys.argv[2:])
    else:
        main()
