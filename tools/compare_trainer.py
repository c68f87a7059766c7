#!/usr/bin/env python3
"""Fine-tuning with nothing but paths given, beside HuggingFace's Trainer on the same rows.

  compare_trainer.py rows SHARED DIR              writes DIR/SET/{train,dev,test}.jsonl for the sets below
  compare_trainer.py train MODEL DIR/SET RECIPE OUTPUT
                                                  needs transformers, accelerate and torch; the model is saved to OUTPUT
  compare_trainer.py heed MODEL DIR/SET now|before OUTPUT
                                                  the same with the program that the variable HEED names
`heed eval --model OUTPUT --data DIR/SET/dev.jsonl` scores what either program made, by one and the same code.

RECIPE is default: TrainingArguments as they are (5e-5, 8 rows, 3 epochs); or usual: what transformers' own examples for GLUE
say (2e-5, 32 rows, 3 epochs). now: only paths are given; before: what heed had for everything (5e-5, 2,048 tokens, 3 epochs)."""
import csv
import gzip
import json
import os
import random
import subprocess
import sys


def lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        yield from file


def fiqa(folder, part):
    """Headlines and posts with the sign of their mean score."""
    for kind in ("headline", "post"):
        for row in json.loads("".join(lines(f"{folder}/task1_{kind}_ABSA_{part}.json.gz"))).values():
            scores = [float(info["sentiment_score"]) for info in row["info"]]
            yield {"text": row["sentence"], "label": "positive" if sum(scores) >= 0 else "negative"}


def tagged(path, word, tag):
    """Sentences of CoNLL or CoNLL-U files, whose words are numbered; comments, ranges and empty words are passed over."""
    words, tags = [], []
    for line in [*lines(path), ""]:
        fields = line.rstrip("\n").split("\t")
        if not line.strip():
            if words:
                yield {"words": words, "tags": tags}
            words, tags = [], []
        elif word == 0 or fields[0].isdigit():
            words.append(fields[word])
            tags.append(fields[tag])


def sst2(folder, part):
    for line in lines(f"{folder}/stsa.binary.{part}"):
        yield {"label": line[0], "text": line[2:].strip()}


def csv_rows(path):
    for text, label in list(csv.reader(lines(path)))[1:]:
        yield {"text": text, "label": label}


def stsb(folder, part):
    for row in csv.reader(lines(f"{folder}/stsb-en-{part}.csv")):
        yield {"text": row[0], "text_pair": row[1], "score": float(row[2])}


def split(rows, dev, train=None):
    rows = list(rows)
    random.Random(1).shuffle(rows)
    return rows[dev:][:train], rows[:dev]


def some(rows, count):
    return split(rows, 0, count)[0]


def sets(shared):
    data = f"{shared}/data"
    train, dev = split(fiqa(f"{data}/fiqa-sentiment", "train"), 91)
    yield "fiqa", train, dev, fiqa(f"{data}/fiqa-sentiment", "test")
    yield ("sst2", some(sst2(f"{data}/sst2", "train"), 2000), sst2(f"{data}/sst2", "dev"), sst2(f"{data}/sst2", "test"))
    train, dev = split(csv_rows(f"{data}/banking77/train.csv"), 1000, 3000)
    yield "banking77", train, dev, csv_rows(f"{data}/banking77/test.csv")
    news = f"{data}/twitter-financial-news/sentiment"
    train, dev = split(csv_rows(f"{news}.train.csv.gz"), 1000, 2000)
    yield "tweets", train, dev, csv_rows(f"{news}.valid.csv.gz")
    folder = f"{data}/stsb"
    yield "stsb", some(stsb(folder, "train"), 1500), stsb(folder, "dev"), stsb(folder, "test")
    folder = f"{data}/wnut17"
    yield "wnut17", *(tagged(f"{folder}/{name}", 0, 1) for name in
                      ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"))
    folder = f"{data}/ud_english_ewt"
    train, dev, test = (tagged(f"{folder}/en_ewt-ud-{part}.conllu.gz", 1, 3) for part in ("train", "dev", "test"))
    yield "ewt", some(train, 1500), dev, test


def write_rows(shared, target):
    for name, *parts in sets(shared):
        os.makedirs(f"{target}/{name}", exist_ok=True)
        for part, rows in zip(("train", "dev", "test"), parts):
            with open(f"{target}/{name}/{part}.jsonl", "w", encoding="utf-8") as file:
                for row in rows:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")


def train(model_folder, folder, recipe, output):
    import torch
    from transformers import (AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer,
                              DataCollatorForTokenClassification, DataCollatorWithPadding, Trainer, TrainingArguments)

    rows = [json.loads(line) for line in lines(f"{folder}/train.jsonl")]
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    tagged = "words" in rows[0]
    names = sorted({tag for row in rows for tag in row["tags"]} if tagged else {row.get("label", "score") for row in rows})

    def sample(row):
        if not tagged:
            encoded = dict(tokenizer(row["text"], row.get("text_pair"), truncation=True, max_length=512))
            encoded["labels"] = float(row["score"]) if "score" in row else names.index(row["label"])
            return encoded
        encoded = tokenizer(row["words"], is_split_into_words=True, truncation=True, max_length=512)
        word_of = encoded.word_ids()
        first = [word is not None and word != before for before, word in zip([None, *word_of], word_of)]
        result = dict(encoded)
        result["labels"] = [names.index(row["tags"][word]) if is_first else -100
                            for word, is_first in zip(word_of, first)]
        return result

    kind = AutoModelForTokenClassification if tagged else AutoModelForSequenceClassification
    torch.manual_seed(1)
    # Weights of 16 bits would otherwise be trained as such.
    model = kind.from_pretrained(model_folder, dtype=torch.float32, num_labels=len(names),
                                 id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)})
    usual = {"learning_rate": 2e-5, "per_device_train_batch_size": 32} if recipe == "usual" else {}
    arguments = TrainingArguments(output_dir=output, num_train_epochs=3, save_strategy="no", report_to=[], seed=1,
                                  disable_tqdm=True, use_cpu=True, dataloader_pin_memory=False, **usual)
    collator = (DataCollatorForTokenClassification if tagged else DataCollatorWithPadding)(tokenizer)
    Trainer(model=model, args=arguments, train_dataset=[sample(row) for row in rows], data_collator=collator).train()
    model.save_pretrained(output)
    tokenizer.save_pretrained(output)


def heed(model_folder, folder, defaults, output):
    """Trains with the paths of a set and, before, the settings that were fixed."""
    with open(f"{folder}/train.jsonl", encoding="utf-8") as file:
        task = "tag" if "words" in json.loads(file.readline()) else "classify"
    config = {"task": task, "output": output, "model": {"from": model_folder},
              "data": {"train": f"{folder}/train.jsonl", "dev": f"{folder}/dev.jsonl"}}
    if defaults == "before":
        config.update(batch={"tokens": 2048}, optimizer={"learning_rate": 5e-5}, epochs=3)
    with open(f"{output}.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    subprocess.run([os.environ["HEED"], "train", f"{output}.json"], check=True)


if __name__ == "__main__":
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb == "rows" and len(sys.argv) == 4:
        write_rows(*sys.argv[2:])
    elif verb == "train" and len(sys.argv) == 6 and sys.argv[4] in ("default", "usual"):
        train(*sys.argv[2:])
    elif verb == "heed" and len(sys.argv) == 6 and sys.argv[4] in ("now", "before"):
        heed(*sys.argv[2:])
    else:
        sys.exit(__doc__)
