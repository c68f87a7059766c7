// Writes src/heed/text/unicode_tables.cpp: what HuggingFace tokenizers holds each code point to be. Its stages were
// built with tables of several Unicode versions, so the answers come from the stages themselves, code point by code
// point. Takes some minutes.
// usage: node make_unicode_tables.js FOLDER_WITH_NODE_MODULES > unicode_tables.cpp
//        (the folder had: npm install --ignore-scripts tokenizers@0.23)
const { Tokenizer } = require(require('path').resolve(process.argv[2], 'node_modules/tokenizers'));

const tokenizer = (normalizer, pre_tokenizer) => Tokenizer.fromString(JSON.stringify({
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer, pre_tokenizer,
  post_processor: null, decoder: null, model: { type: 'WordLevel', vocab: { '?': 0 }, unk_token: '?' },
}));
const normalize = (json) => {
  const stage = tokenizer(json, null).getNormalizer();
  return (text) => stage.normalizeString(text);
};
const split = (json) => {
  const stage = tokenizer(null, json).getPreTokenizer();
  return (text) => stage.preTokenizeString(text).length;
};
const regex = (pattern) => split({ type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false });
const bert = (flags) => normalize({
  type: 'BertNormalizer', clean_text: false, handle_chinese_chars: false, strip_accents: false, lowercase: false, ...flags,
});

function* code_points() {
  for (let point = 0; point < 0x110000; ++point) if (point < 0xd800 || point > 0xdfff) yield point;
}

function ranges(holds) {
  const found = [];
  for (const point of code_points()) {
    if (!holds(String.fromCodePoint(point))) continue;
    const last = found[found.length - 1];
    if (last && last[1] === point - 1) last[1] = point; else found.push([point, point]);
  }
  return found;
}

// Runs of single-character lower-casing with one step and one distance.
function lower_runs() {
  const lower = normalize({ type: 'Lowercase' });
  const runs = [];
  for (const point of code_points()) {
    const text = lower(String.fromCodePoint(point));
    const target = text.codePointAt(0);
    if (target === point || [...text].length > 1) continue;
    const last = runs[runs.length - 1];
    const step = last ? point - last.last : 0;
    if (last && last.delta === target - point && step <= 2 && (last.step === 0 || last.step === step)) {
      last.last = point;
      last.step = step;
    } else {
      runs.push({ first: point, last: point, step: 0, delta: target - point });
    }
  }
  return runs;
}

const hex = (value) => '0x' + value.toString(16).toUpperCase();
function table(type, name, items) {
  let text = `constexpr ${type} ${name}[] = {`;
  let width = 999;
  for (const item of items) {
    if (width + item.length + 2 > 118) {
      text += '\n   ';
      width = 3;
    }
    text += ' ' + item + ',';
    width += item.length + 2;
  }
  return text + '\n};\n';
}
const range_table = (name, holds) =>
  table('CodeRange', name, ranges(holds).map(([first, last]) => `{${hex(first)}, ${hex(last)}}`));

const clean = bert({ clean_text: true });
const bert_strip = bert({ strip_accents: true });
const strip = normalize({ type: 'StripAccents' });
const nfkd = normalize({ type: 'NFKD' });
const punctuation = split({ type: 'Punctuation', behavior: 'Isolated' });
const digits = split({ type: 'Digits', individual_digits: true });
const words = split({ type: 'Whitespace' });
const spaces = split({ type: 'WhitespaceSplit' });
const letters = regex('\\p{L}');
const numbers = regex('\\p{N}');
const tables = [
  range_table('kWhitespace', (c) => spaces(`a${c}b`) === 2),
  range_table('kControl', (c) => c !== '\0' && c !== '\ufffd' && clean(`a${c}b`) === 'ab'),
  range_table('kNonspacingMark', (c) => bert_strip(`a${c}b`) === 'ab'),
  range_table('kCombiningMark', (c) => strip(`a${c}b`) === 'ab'),
  range_table('kPunctuation', (c) => punctuation(`a${c}b`) === 3),
  range_table('kNumeric', (c) => digits(`a${c}b`) === 3),
  range_table('kWord', (c) => words(`a${c}b`) === 1),
  range_table('kRegexLetter', (c) => letters(`\x01${c}\x01`) === 3),
  range_table('kRegexNumber', (c) => numbers(`\x01${c}\x01`) === 3),
  range_table('kDecomposes', (c) => nfkd(c) !== c),
  table('LowerRun', 'kLower', lower_runs().map((run) =>
    `{${hex(run.first)}, ${hex(run.last)}, ${run.step || 1}, ${run.delta}}`)),
];
process.stdout.write(`// Written by tools/make_unicode_tables.js; not for editing by hand.
#include "heed/text/unicode_tables.h"

namespace heed::text {
namespace {

// clang-format off
${tables.join('\n')}// clang-format on

}  // namespace

UnicodeTables unicode_tables() {
  return {kWhitespace, kControl,     kNonspacingMark, kCombiningMark, kPunctuation, kNumeric,
          kWord,       kRegexLetter, kRegexNumber,    kDecomposes,    kLower};
}

}  // namespace heed::text
`);
