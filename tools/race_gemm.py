#!/usr/bin/env python3
"""Races heed's matrix product against OpenBLAS and oneDNN: interleaved rounds, one process a library.

  race_gemm.py build/release/bin/heed_bench_worker [--rounds 25] [--threads 1,2] [--layout NN] [--shape 128,768,768] [--lib heed]
Prints for each shape and thread count the median GFLOP/s [min-max], the fraction of the FMA peak measured in the same
rounds, and heed's ratio to the better peer (median of the ratios of each round)."""
import argparse
import json
import statistics
import subprocess

SHAPES = [(128, 768, 768), (128, 3072, 768), (128, 768, 3072), (1024, 768, 768),
          (16, 768, 768), (1, 768, 768), (128, 384, 1536), (32, 312, 312)]


class Worker:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"err": "worker died"}


def race(workers, shape, layout, threads, rounds):
    M, N, K = shape
    gflops = {name: [] for name in workers}
    for round_ in range(rounds + 1):
        for name, worker in workers.items():
            command = {"cmd": "peak", "T": threads} if name == "peak" else {
                "cmd": "gemm", "M": M, "N": N, "K": K, "layout": layout, "T": threads, "lib": name}
            answer = worker.ask(**command)
            if "gflops" not in answer:
                raise SystemExit(f"{name}: {answer}")
            if round_ > 0:  # the first round prepares
                gflops[name].append(answer["gflops"])
    return gflops


def describe(gflops):
    peak = statistics.median(gflops["peak"])
    cells = [f"peak {peak:.0f}"]
    for name, values in gflops.items():
        if name != "peak":
            median = statistics.median(values)
            cells.append(f"{name} {median:.1f} ({median / peak:.0%}) [{min(values):.0f}-{max(values):.0f}]")
    peers = [name for name in gflops if name not in ("peak", "heed")]
    if peers and "heed" in gflops:
        best = max(peers, key=lambda name: statistics.median(gflops[name]))
        ratio = statistics.median(ours / theirs for ours, theirs in zip(gflops["heed"], gflops[best]))
        cells.append(f"heed/{best} {ratio:.2f}")
    return " | ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--layout", default="NN")
    parser.add_argument("--shape", action="append")
    parser.add_argument("--lib", default="heed,openblas,onednn")
    options = parser.parse_args()
    shapes = [tuple(int(x) for x in shape.split(",")) for shape in options.shape or []] or SHAPES
    workers = {name: Worker(options.worker) for name in ["peak"] + options.lib.split(",")}
    for threads in (int(t) for t in options.threads.split(",")):
        for shape in shapes:
            gflops = race(workers, shape, options.layout, threads, options.rounds)
            print(f"{'x'.join(map(str, shape))} {options.layout} {threads}T | {describe(gflops)}", flush=True)
    for worker in workers.values():
        worker.ask(cmd="quit")


if __name__ == "__main__":
    main()
