#!/usr/bin/env python3
"""Races one training step of heed against PyTorch's: interleaved rounds, one process each.

  race_training.py build/release/bin/heed_bench_worker [--rounds 15] [--threads 2] [--dropout 0.1]
                   [--torch-library-path FOLDER] [--python COMMAND] [--gpt2 | --nanogpt]
Two steps: train_minilm (16 sequences of 128 tokens) and train_mixed (16 of 7 to 64 tokens, which PyTorch pads to the
longest); with --dropout, of the attention weights and of what attention and feed-forward add. With --gpt2 another one: a
language model, 4 sequences of 256 tokens, 6 layers of 384, against transformers' own GPT-2; with --nanogpt the setting
that nanoGPT proposes for a CPU, 12 sequences of 64 characters, 4 layers of 128, in plain PyTorch. Prints the median seconds
[min-max] of each, and PyTorch's median over heed's, round by round. PyTorch is that of /usr/bin/python3 (Debian's
python3-torch), or of another command that runs python; the folder of an OpenMP build of OpenBLAS makes it faster.

  race_training.py --torch
is PyTorch's side: one JSON command a line in, one answer {"t": seconds, "maxrss": bytes} out."""
import argparse
import json
import math
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time

LENGTHS = {"train_minilm": [128] * 16,
           "train_mixed": [22, 7, 46, 15, 33, 18, 9, 64, 27, 13, 20, 38, 11, 24, 30, 16]}
LAYERS, WIDTH, HEADS, INNER = 6, 384, 12, 1536
NANOGPT = {"B": 12, "n": 64, "width": 128, "layers": 4, "heads": 4, "vocabulary": 65, "positions": 64}


def torch_step(lengths, dropout):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
            self.norms = nn.ModuleList(nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))

        def forward(self, x, bias):
            q, k, v = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            weights = F.dropout(F.softmax(scores if bias is None else scores + bias, dim=-1), dropout)
            x = self.norms[0](F.dropout(self.output((weights @ v).transpose(1, 2).flatten(2)), dropout) + x)
            return self.norms[1](F.dropout(self.down(F.gelu(self.up(x))), dropout) + x)

    torch.manual_seed(1)
    layers = nn.ModuleList(Layer() for _ in range(LAYERS))
    optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-4)
    longest = max(lengths)
    real = torch.arange(longest) < torch.tensor(lengths)[:, None]  # [B, T]
    padded = not real.all()
    bias = torch.zeros(real.shape).masked_fill(~real, -math.inf)[:, None, None] if padded else None
    x, target = torch.randn(len(lengths), longest, WIDTH), torch.randn(len(lengths), longest, WIDTH)
    wanted = target[real]

    def step():
        optimizer.zero_grad(set_to_none=True)
        y = x
        for layer in layers:
            y = layer(y, bias)
        loss = F.mse_loss(y[real], wanted) if padded else F.mse_loss(y, target)
        loss.backward()
        optimizer.step()

    return step


def gpt2_step():
    """What bench/train_gpt2_run.h does, by transformers' model."""
    import torch
    from torch.nn import functional as F
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(n_embd=384, n_layer=6, n_head=6, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    ids = torch.randint(0, model.config.vocab_size, (4, 256))

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = model(ids, use_cache=False).logits[:, :-1]
        F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()

    return step


def nanogpt_step():
    import torch
    from torch import nn
    from torch.nn import functional as F
    width, vocabulary = NANOGPT["width"], NANOGPT["vocabulary"]
    past = torch.ones(NANOGPT["n"], NANOGPT["n"], dtype=torch.bool).tril()

    def attend(q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # from PyTorch 2.0 on
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        return F.softmax(scores.masked_fill(~past, -math.inf), dim=-1) @ v

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            q, k, v = (part.unflatten(-1, (NANOGPT["heads"], -1)).transpose(1, 2)
                       for part in self.qkv(self.norms[0](x)).chunk(3, dim=-1))
            x = x + self.output(attend(q, k, v).transpose(1, 2).flatten(2))
            return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))

    torch.manual_seed(1)
    words, places = nn.Embedding(vocabulary, width), nn.Embedding(NANOGPT["positions"], width)
    stack = nn.Sequential(*(Block() for _ in range(NANOGPT["layers"])), nn.LayerNorm(width))
    weights = [*words.parameters(), *places.parameters(), *stack.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=1e-4)
    ids = torch.randint(0, vocabulary, (NANOGPT["B"], NANOGPT["n"]))

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = stack(words(ids) + places.weight)[:, :-1] @ words.weight.T
        F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()

    return step


def serve_torch():
    import torch
    prepared = {}
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "quit":
            break
        torch.set_num_threads(command.get("T", 1))
        name = command["cmd"]
        if name not in prepared:
            if name == "train_gpt2":
                prepared[name] = nanogpt_step() if "vocabulary" in command else gpt2_step()
            else:
                prepared[name] = torch_step(LENGTHS[name], command["dropout"])
            prepared[name]()
        times = []
        while sum(times) < 0.15 or (len(times) < 3 and sum(times) < 2):
            begun = time.perf_counter()
            prepared[name]()
            times.append(time.perf_counter() - begun)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps({"t": statistics.median(times), "maxrss": usage.ru_maxrss * 1024}), flush=True)


class Worker:
    def __init__(self, arguments, **environment):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"err": "worker died"}
        if "t" not in answer:
            raise SystemExit(f"{self.process.args}: {answer}")
        return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker", nargs="?")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0)
    parser.add_argument("--torch-library-path", default="")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--gpt2", action="store_true")
    parser.add_argument("--nanogpt", action="store_true")
    arguments = parser.parse_args()
    if arguments.torch:
        serve_torch()
        return
    if not arguments.worker:
        parser.error("heed's worker is missing")
    environment = {"OMP_NUM_THREADS": str(arguments.threads)}
    if arguments.torch_library_path:
        environment["LD_LIBRARY_PATH"] = arguments.torch_library_path
    workers = {"heed": Worker([arguments.worker]),
               "torch": Worker([*shlex.split(arguments.python), os.path.relpath(__file__), "--torch"], **environment)}
    steps, shape = LENGTHS, {}
    if arguments.gpt2:
        steps = {"train_gpt2": [256] * 4}
    if arguments.nanogpt:
        steps, shape = {"train_gpt2": [NANOGPT["n"]] * NANOGPT["B"]}, NANOGPT
    for name, lengths in steps.items():
        times, memory = {worker: [] for worker in workers}, {}
        for round_ in range(arguments.rounds + 1):
            for worker, process in workers.items():
                answer = process.ask(cmd=name, T=arguments.threads, dropout=arguments.dropout, **shape)
                memory[worker] = answer["maxrss"]
                if round_ > 0:  # the first round prepares
                    times[worker].append(answer["t"])
        cells = [f"{worker} {statistics.median(values):.4f} s [{min(values):.4f}-{max(values):.4f}] "
                 f"{memory[worker] / 1e6:.0f} MB" for worker, values in times.items()]
        ratio = statistics.median(theirs / ours for ours, theirs in zip(times["heed"], times["torch"]))
        print(f"{name} ({sum(lengths)} tokens): {' | '.join(cells)} | torch/heed {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
