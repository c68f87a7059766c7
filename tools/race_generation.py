#!/usr/bin/env python3
"""Races writing with a model of GPT-2's smallest shape (random weights): heed against PyTorch and llama.cpp, interleaved.

  race_generation.py build/release/bin/heed_bench_worker [--rounds 7] [--threads 2] [--torch COMMAND] [--llama COMMAND]
                     [--gguf F32.gguf F16.gguf]
heed decodes 128 tokens after a prompt of 32 with weights stored as f32, f16 and bf16, one sequence and 16 at once, and reads
a prompt of 512. --torch names a worker that answers {"cmd": "gpt2", "new": 128, "T": threads} with {"t": seconds}; --llama
how to run llama-bench, and --gguf the same shape in its format. Prints medians [min-max] in tokens per second, what share
of the memory bandwidth (measured in the same rounds) heed's decoding reaches, and of the peak its prompt."""
import argparse
import json
import shlex
import statistics
import subprocess

from race_training import Worker

PROMPT, NEW = 32, 128


def llama_bench(command, model, threads):
    """Tokens per second of a prompt of 512 and of decoding."""
    run = subprocess.run([*shlex.split(command), "-m", model, "-t", str(threads), "-p", "512", "-n", str(NEW), "-r", "1",
                          "-o", "json"], capture_output=True, text=True, check=True)
    return [entry["avg_ts"] for entry in json.loads(run.stdout[run.stdout.index("["):])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--torch", default="")
    parser.add_argument("--llama", default="")
    parser.add_argument("--gguf", nargs="*", default=[])
    arguments = parser.parse_args()
    heed = Worker([arguments.worker])
    torch = Worker(shlex.split(arguments.torch)) if arguments.torch else None
    found = {}

    def note(name, value):
        found.setdefault(name, []).append(value)

    def decode(storage, batch):
        return heed.ask(cmd="gpt2", storage=storage, B=batch, prompt=PROMPT, new=NEW, T=arguments.threads)

    for round_ in range(arguments.rounds + 1):
        if round_ == 1:  # the first round prepares
            found.clear()
        bandwidth = heed.ask(cmd="bandwidth", T=arguments.threads)["gb_per_s"]
        peak = heed.ask(cmd="peak", T=arguments.threads)["gflops"]
        note("memory bandwidth, GB/s", bandwidth)
        for storage in ("f32", "f16", "bf16"):
            answer = decode(storage, 1)
            note(f"heed {storage}: load, s", answer["load"])
            note(f"heed {storage}: decoding, tokens/s", answer["tokens_per_s"])
            note(f"heed {storage}: decoding, share of bandwidth", answer["gb_per_s"] / bandwidth)
        single, many = decode("f32", 1)["tokens_per_s"], decode("f32", 16)["tokens_per_s"]
        note("heed f32: 16 sequences over 1", many / single)
        prompt = heed.ask(cmd="gpt2", storage="f32", B=1, prompt=512, new=0, T=arguments.threads)
        note("heed f32: prompt of 512, tokens/s", 512 / prompt["t"])
        note("heed f32: prompt of 512, share of peak", prompt["gflops"] / peak)
        if torch:
            note("PyTorch f32: prompt and decoding, tokens/s", NEW / torch.ask(cmd="gpt2", new=NEW, T=arguments.threads)["t"])
            note("heed f32: prompt and decoding, tokens/s", NEW / decode("f32", 1)["t"])
        for model in arguments.gguf:
            prompt_speed, decode_speed = llama_bench(arguments.llama, model, arguments.threads)
            note(f"llama.cpp {model}: prompt of 512, tokens/s", prompt_speed)
            note(f"llama.cpp {model}: decoding, tokens/s", decode_speed)
    for name, values in found.items():
        print(f"{name}: {statistics.median(values):.3g} [{min(values):.3g}-{max(values):.3g}]")


if __name__ == "__main__":
    main()
