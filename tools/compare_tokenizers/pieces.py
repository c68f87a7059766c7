#!/usr/bin/env python3
"""heed's reading of SentencePiece files against HuggingFace's converters and SentencePiece itself.

make DIR TEXT_FILE...   where transformers, tokenizers and sentencepiece are installed: trains a SentencePiece model of
                        each kind (ALBERT's, T5's, XLM-R's settings) on the texts, and writes DIR/KIND with the model, a
                        config.json, 2,000 texts, and the ids that each of the others gives for them:
                          converter      convert_slow_tokenizer's class for the kind
                          transformers   AutoTokenizer's class for the kind, from the same folder
                          sentencepiece  the model itself, after what the tokenizer in Python did to a text
record DIR TEXT_FILE... writes DIR/texts.json: ids of some of the texts by the tokenizer.json that the converter makes of
                        ALBERT's spiece.model there, in the form that is published: signs are no added tokens, and white
                        space splits. tests/text/albert was made so, of a model with 700 pieces and no normalization
compare DIR HEED        counts the texts for which `HEED tokenize` gives other ids, and prints the first few
"""
import json
import pathlib
import re
import subprocess
import sys
import unicodedata

TEXTS, LINES, RECORDED = 2_000, 40_000, 160
SPELLED = r"<[^ ]+>|\[[A-Z]+\]"
SETTINGS = {
    "albert": dict(pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"],
                   user_defined_symbols=list('()"-.–£€')),
    "t5": dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1),
    "xlm-roberta": dict(unk_id=0, bos_id=1, eos_id=2),
}


def some_texts(files):
    """Every line, and among them what real lines seldom have: spaces at the ends, digits with commas, quotes, marks."""
    lines = []
    for file in files:
        lines += pathlib.Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    lines = [line.replace("<unk>", "unk") for line in lines if line.strip()]
    step = max(1, len(lines) // LINES)
    lines = lines[::step][:LINES]
    odd = ["well-known", "in 1,999, 7, 8", " two  spaces ", "tab\tand\u00a0nbsp", "``quoted'' text", "naïve Ünïcode",
           "ﬁne ½ ①", "日本語、テスト。", "", " ", "-", "a-b-c (d) £5.00", "<extra_id_0> x", "[MASK] y", "</s>", "e\u0301a",
           "🙂 smile", "x" * 300, "end ", "(a) \"b\" - c.", "1,000,000"]
    return lines, (odd + lines[::max(1, len(lines) // (TEXTS - len(odd)))])[:TEXTS]


class Original:
    """What convert_slow_tokenizer asks of a tokenizer in Python."""
    keep_accents, do_lower_case, add_prefix_space, legacy = False, True, True, True
    _extra_ids = 100

    def __init__(self, kind, file, pieces):
        self.vocab_file = file
        ids = {piece: i for i, piece in enumerate(pieces)}
        if kind == "xlm-roberta":
            ids.update({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3})
        self.convert_tokens_to_ids = ids.__getitem__


def albert_pieces(processor, text):
    text = " ".join(text.strip().split()).replace("``", '"').replace("''", '"')
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    result = []
    for piece in processor.encode(text, out_type=str):
        if len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit():
            cut = processor.encode(piece[:-1].replace("▁", ""), out_type=str)
            if piece[0] != "▁" and cut[0][0] == "▁":
                cut = cut[1:] if len(cut[0]) == 1 else [cut[0][1:]] + cut[1:]
            result += cut + [","]
        else:
            result.append(piece)
    return result


def sentencepiece_ids(kind, processor, text):
    if kind == "albert":
        ids = [processor.piece_to_id(piece) for piece in albert_pieces(processor, text)]
        return [processor.piece_to_id("[CLS]")] + ids + [processor.piece_to_id("[SEP]")]
    if kind == "t5":
        return processor.encode(text) + [1]
    return [0] + [i + 1 if i else 3 for i in processor.encode(text)] + [2]


def make(folder, files):
    import sentencepiece
    from transformers import AutoTokenizer
    from transformers import convert_slow_tokenizer as converters
    classes = {"albert": converters.AlbertConverter, "t5": converters.T5Converter,
               "xlm-roberta": converters.XLMRobertaConverter}
    lines, texts = some_texts(files)
    for kind, settings in SETTINGS.items():
        place = pathlib.Path(folder, kind)
        place.mkdir(parents=True, exist_ok=True)
        name = "sentencepiece.bpe" if kind == "xlm-roberta" else "spiece"
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_prefix=str(place / name),
                                                 vocab_size=8_000, character_coverage=0.9995, minloglevel=2, **settings)
        (place / (name + ".vocab")).unlink()
        file = str(place / (name + ".model"))
        (place / "config.json").write_text(json.dumps({"model_type": kind}) + "\n")
        processor = sentencepiece.SentencePieceProcessor(model_file=file)
        pieces = [processor.id_to_piece(i) for i in range(len(processor))]
        converted = classes[kind](Original(kind, file, pieces)).converted()
        whole = AutoTokenizer.from_pretrained(place)
        with open(place / "texts.jsonl", "w", encoding="utf-8") as out:
            for text in texts:
                out.write(json.dumps({"text": text, "converter": converted.encode(text).ids,
                                      "transformers": whole(text)["input_ids"],
                                      "sentencepiece": sentencepiece_ids(kind, processor, text)}) + "\n")


def record(folder, files):
    import tokenizers
    import transformers
    import transformers.convert_slow_tokenizer as converters
    file = str(pathlib.Path(folder, "spiece.model"))
    proto = converters.import_protobuf().ModelProto()
    proto.ParseFromString(pathlib.Path(file).read_bytes())
    converted = converters.AlbertConverter(Original("albert", file, [each.piece for each in proto.pieces])).converted()
    published = json.loads(converted.to_str())
    published["added_tokens"] = [token for token in published["added_tokens"] if token["special"]]
    published["pre_tokenizer"] = {"type": "Sequence",
                                  "pretokenizers": [{"type": "WhitespaceSplit"}, published["pre_tokenizer"]]}
    published = tokenizers.Tokenizer.from_str(json.dumps(published))
    texts = [text for text in some_texts(files)[1] if not re.search(SPELLED, text)]
    rows = [json.dumps([text, published.encode(text).ids]) for text in texts[:30] + texts[30::len(texts) // RECORDED]]
    pathlib.Path(folder, "texts.json").write_text(
        '{"source": "transformers %s",\n "texts": [\n%s]}\n' % (transformers.__version__, ",\n".join(rows)))


def compare(folder, heed):
    for kind in SETTINGS:
        place = pathlib.Path(folder, kind)
        rows = [json.loads(line) for line in open(place / "texts.jsonl", encoding="utf-8")]
        answers = subprocess.run([heed, "tokenize", "--model", place, "--input", "-", "--format", "jsonl", "--quiet"],
                                 input="".join(json.dumps({"text": row["text"]}) + "\n" for row in rows).encode(),
                                 stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        ours = [json.loads(line)["ids"] for line in answers]
        assert len(ours) == len(rows)
        for other in ("converter", "transformers", "sentencepiece"):
            # Special tokens that are spelled in a text are a matter of the whole tokenizer.
            compared = [i for i in range(len(rows)) if other == "transformers" or not re.search(SPELLED, rows[i]["text"])]
            differ = [i for i in compared if ours[i] != rows[i][other]]
            print(f"{kind}: {len(compared)} texts, {len(differ)} with other ids than {other}")
            for i in differ[:5]:
                print(f"    {rows[i]['text'][:70]!r}\n      heed {ours[i][:20]}\n      {other} {rows[i][other][:20]}")


if __name__ == "__main__":
    commands = {"make": make, "record": record, "compare": lambda folder, rest: compare(folder, *rest)}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](sys.argv[2], sys.argv[3:])
