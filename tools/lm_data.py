#!/usr/bin/env python3
"""Writes the data that the language models of examples/train learn from, out of the shared folder.

  lm_data.py SHARED DIR
makes DIR/shakespeare/data, DIR/text8/data, DIR/tang/data and DIR/wikitext2/data. The configs name their files from the
folder in which heed runs:
  cd DIR/shakespeare && heed train .../examples/train/shakespeare.json"""
import gzip
import shutil
import sys
from pathlib import Path


def write(folder, parts):
    """parts: name of a file -> its text"""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for name, text in parts.items():
        (folder / "data" / name).write_text(text, encoding="utf-8")


def copy(source, folder, names):
    """names: of a file of the corpus -> that of the config"""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for theirs, ours in names.items():
        shutil.copyfile(source / theirs, folder / "data" / ours)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shared, folder = Path(sys.argv[1]) / "data", Path(sys.argv[2])

    # nanoGPT's split: the first 90 % of the characters.
    plays = (shared / "tinyshakespeare/input.txt").read_text(encoding="utf-8")
    border = int(len(plays) * 0.9)
    write(folder / "shakespeare", {"train.txt": plays[:border], "val.txt": plays[border:]})

    # 6.0, 0.4 and the last 0.4 million characters.
    wiki = gzip.decompress((shared / "text8_6m/text8.first6.8M.txt.gz").read_bytes()).decode()
    write(folder / "text8", {"train.txt": wiki[:6_000_000], "dev.txt": wiki[6_000_000:6_400_000],
                             "test.txt": wiki[6_400_000:]})

    poems = ["train.tsv.gz", "dev.tsv.gz", "test.tsv.gz"]
    copy(shared / "tang_poetry_zh", folder / "tang", dict(zip(poems, poems)))
    copy(shared / "wikitext2", folder / "wikitext2",
         {"train.article-shuffled.txt.gz": "train.txt.gz", "valid.txt.gz": "valid.txt.gz", "test.txt.gz": "test.txt.gz"})


if __name__ == "__main__":
    main()
