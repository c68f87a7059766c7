#!/usr/bin/env python3
"""Writes a grammar (GBNF) of regulated Chinese verse: lines of one length, and even lines that rhyme.

  tang_grammar.py POEMS.tsv.gz [--lines 8] [--characters 5] > verse.gbnf
  tang_grammar.py POEMS.tsv.gz --check TEXTS     how many of these poems, one per line, have the form, and how many rhyme
Which characters rhyme is learned from the poems themselves (title, author, text per row): those that end even lines of one
poem do. They are put into groups, one after the other by how often they rhyme at all, each where it rhymes most beyond
chance, several times over. heed generate --grammar @verse.gbnf then writes nothing else."""
import argparse
import collections
import gzip
import re
import sys

LEAST = 5  # rhymes that a character must have been seen in
PASSES = 8


def lines_of(poem):
    return [line for line in re.split("[，。？！；]", poem.strip()) if line]


def is_regular(lines):
    return len(lines) in (4, 8) and len(lines[0]) in (5, 7) and all(len(line) == len(lines[0]) for line in lines)


def rhymes_of(lines):
    return [line[-1] for line in lines[1::2]]


def rhyme_groups(poems):
    """Character to group."""
    mates = collections.defaultdict(collections.Counter)
    for poem in poems:
        lines = lines_of(poem)
        if is_regular(lines):
            ends = set(rhymes_of(lines))
            for end in ends:
                mates[end].update(ends - {end})
    degree = {end: mates[end].total() for end in mates}
    total = sum(degree.values())
    common = sorted((end for end in mates if degree[end] >= LEAST), key=lambda end: (-degree[end], end))
    group = {end: end for end in common}
    size = collections.Counter(degree)
    for _ in range(PASSES):
        for end in common:
            size[group[end]] -= degree[end]
            # more rhymes than by chance: what modularity gains
            gains = collections.Counter({group[end]: -degree[end] * size[group[end]] / total})
            for mate, count in mates[end].items():
                if mate in group:
                    gains.setdefault(group[mate], -degree[end] * size[group[mate]] / total)
                    gains[group[mate]] += count
            group[end] = max(sorted(gains), key=gains.get)
            size[group[end]] += degree[end]
    return group


def grammar(groups, count, characters):
    members = collections.defaultdict(list)
    for character, name in groups.items():
        members[name].append(character)
    sets = [sorted(group) for group in members.values() if len(group) >= count // 2]
    rules = ["root ::= " + " | ".join(f"poem-{i}" for i in range(len(sets)))]
    for i, group in enumerate(sets):
        couplet = f'any{{{characters}}} "，" any{{{characters - 1}}} [{"".join(group)}] "。"'
        rules.append(f"poem-{i} ::= " + " ".join([couplet] * (count // 2)))
    return "\n".join(rules + ["any ::= [㐀-䶿一-鿿]"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poems")
    parser.add_argument("--lines", type=int, default=8, choices=(4, 8))
    parser.add_argument("--characters", type=int, default=5, choices=(5, 7))
    parser.add_argument("--check")
    arguments = parser.parse_args()
    with gzip.open(arguments.poems, "rt", encoding="utf-8") as file:
        groups = rhyme_groups([row.rstrip("\n").split("\t")[2] for row in file])
    if not arguments.check:
        sys.stdout.write(grammar(groups, arguments.lines, arguments.characters))
        return
    with open(arguments.check, encoding="utf-8") as file:
        poems = [lines_of(poem) for poem in file if poem.strip()]
    regular = [lines for lines in poems if is_regular(lines)]
    rhyming = [lines for lines in regular if len({groups.get(end, end) for end in rhymes_of(lines)}) == 1]
    print(f"{len(poems)} poems, {len(regular)} of regular form, {len(rhyming)} of them rhyme")


if __name__ == "__main__":
    main()
