#!/usr/bin/env python3
"""Writes src/heed/text/language_profiles.cpp: how probable three letters in a row are in languages of the Latin script.

usage: make_language_profiles.py LANGUAGE=FILE[:COLUMN] ... > language_profiles.cpp
The committed table, from the training parts of the shared data alone:
  d=../shared/data; tools/make_language_profiles.py \
      de=$d/multi30k/raw/train.de.gz en=$d/multi30k/raw/train.en.gz en=$d/en_ja/train.en.gz \
      en=$d/tatoeba_eng_zho/train.tsv.gz:2 fr=$d/multi30k/raw/train.fr.gz > src/heed/text/language_profiles.cpp
Files have a text per line, or tab-separated columns counted from 0, and may be gzipped. Files of a language count alike.
"""
import gzip
import math
import sys
from collections import Counter

KEPT = 3000  # of each language, the most frequent
POWER = 0.7  # of frequencies: evens out what a corpus is about
UNSEEN = 20000  # over so many others the rest of the probability is spread
NUMBERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE, STEP = 3.0, 0.25  # -ln(p) = BASE + STEP * the place of the character in NUMBERS


def texts(name):
    name, _, column = name.partition(":")
    opened = gzip.open(name, "rt", encoding="utf8") if name.endswith(".gz") else open(name, encoding="utf8")
    with opened as lines:
        for line in lines:
            line = line.rstrip("\n")
            yield line.split("\t")[int(column)] if column else line


def grams(text):
    """Letters in small, one _ for anything between."""
    words = "".join(c if c.isalpha() else " " for c in text.lower()).split()
    joined = "_" + "_".join(words) + "_"
    return (joined[i : i + 3] for i in range(len(joined) - 2))


def profile(files):
    shares = Counter()
    for name in files:
        counts = Counter()
        for text in texts(name):
            counts.update(grams(text))
        total = sum(counts.values())
        for gram, count in counts.items():
            shares[gram] += count / total
    powers = {gram: share**POWER for gram, share in shares.items()}
    total = sum(powers.values())
    return Counter({gram: value / total for gram, value in powers.items()})


def code(probability):
    steps = round((-math.log(probability) - BASE) / STEP)
    return NUMBERS[min(max(steps, 0), len(NUMBERS) - 1)]


def main():
    files = {}
    for argument in sys.argv[1:]:
        language, _, name = argument.partition("=")
        files.setdefault(language, []).append(name)
    if not files:
        sys.exit(__doc__)
    languages = sorted(files)
    profiles = [profile(files[language]) for language in languages]
    kept = sorted({gram for each in profiles for gram, _ in each.most_common(KEPT)})
    unseen = [max(1 - sum(each[gram] for gram in kept), 0.02) / UNSEEN for each in profiles]
    table = [gram + "".join(code(each[gram] or rest / math.e) for each, rest in zip(profiles, unseen)) for gram in kept]
    print("// Written by tools/make_language_profiles.py; not for editing by hand.")
    print('#include "heed/text/language_profiles.h"\n\nnamespace heed::text {\nnamespace {\n\n// clang-format off')
    print("constexpr std::string_view kLanguages[] = {" + ", ".join(f'"{each}"' for each in languages) + "};")
    print('constexpr std::string_view kUnseen = "' + "".join(code(rest) for rest in unseen) + '";')
    print("constexpr std::string_view kGrams =")
    width = 114 // (3 + len(languages))
    rows = ["".join(table[i : i + width]) for i in range(0, len(table), width)]
    print("\n".join(f'    "{row}"' for row in rows) + ";")
    print("// clang-format on\n\n}  // namespace\n\nLanguageProfiles language_profiles() {")
    print("  return {kLanguages, kUnseen, kGrams};\n}\n\n}  // namespace heed::text")


main()
