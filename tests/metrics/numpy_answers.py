#!/usr/bin/python3 -B
"""Random numbers of NumPy, for numpy_random_test.cpp.
usage: numpy_answers.py <answers.json>"""
import json
import sys

import numpy

answers = []
for seed in (0, 1, 12345, 2**32 - 1, 2**32 + 7, 2**63 - 1):
    for below in (1, 2, 3, 10, 1000, 3004, 2**31 + 1, 2**32 - 1):
        numbers = numpy.random.default_rng(seed).choice(below, size=(3, 401), replace=True)
        answers.append({"kind": "generator", "seed": seed, "below": below, "numbers": numbers.ravel().tolist()})
        if seed < 2**32:
            state = numpy.random.RandomState(seed)
            numbers = [state.choice(below, size=401).tolist() if below < 5000 else
                       state.randint(0, below, size=401).tolist() for _ in range(3)]
            answers.append({"kind": "state", "seed": seed, "below": below, "numbers": sum(numbers, [])})
    flips = numpy.random.default_rng(seed).integers(2, size=(5, 101), dtype=bool)
    answers.append({"kind": "flip", "seed": seed, "numbers": flips.ravel().astype(int).tolist()})
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(answers, file)
