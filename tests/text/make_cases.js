// Writes cases.json: what HuggingFace tokenizers makes of a few texts with every kind of stage.
// usage: node make_cases.js FOLDER_WITH_NODE_MODULES > cases.json
//        (the folder had: npm install --ignore-scripts tokenizers@0.23)
const { Tokenizer } = require(require('path').resolve(process.argv[2], 'node_modules/tokenizers'));

const texts = [
  'Hello,  WORLD! Don\'t stop 12.5',
  ' \tNaïve café ΟΔΟΣ İstanbul e\u0301q\u0307\u0323 \r\n',
  '中文 and 日本語ｶﾞ 한국어 \u1112\u1161\u11ab ﬁ ½ ①',
  'a\u200bb\u00a0c\u0000\ufffdd\u0085e 👩‍👩‍👧🇩🇪 שלום ▁x',
  '', '   ',
];
const unigram = { type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0]], byte_fallback: false };
const base = (parts) => ({
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null,
  post_processor: null, decoder: null, model: unigram, ...parts,
});
// Each character on its own shows where a normalizer says it came from.
const characters = { type: 'Split', pattern: { Regex: '[\\s\\S]' }, behavior: 'Isolated', invert: false };
const bert = (clean_text, handle_chinese_chars, strip_accents, lowercase) =>
  ({ type: 'BertNormalizer', clean_text, handle_chinese_chars, strip_accents, lowercase });
const sequence = (...normalizers) => ({ type: 'Sequence', normalizers });
const byte_level = (add_prefix_space, use_regex = true) =>
  ({ type: 'ByteLevel', add_prefix_space, trim_offsets: true, use_regex });
const metaspace = (prepend_scheme, split = true) => ({ type: 'Metaspace', replacement: '▁', prepend_scheme, split });
const replace = (pattern, content) => ({ type: 'Replace', pattern, content });

const normalizers = [
  bert(true, true, null, true), bert(true, true, false, true), bert(true, true, null, false), bert(false, false, true, false),
  { type: 'NFC' }, { type: 'NFD' }, { type: 'NFKC' }, { type: 'NFKD' }, { type: 'Lowercase' }, { type: 'StripAccents' },
  { type: 'Strip', strip_left: true, strip_right: true }, { type: 'Strip', strip_left: false, strip_right: true },
  replace({ String: 'o' }, 'éé'), replace({ Regex: '\\s+' }, ' '), { type: 'Prepend', prepend: '▁' }, { type: 'Nmt' },
  { type: 'ByteLevel' }, sequence({ type: 'NFD' }, { type: 'StripAccents' }, { type: 'Lowercase' }, { type: 'NFC' }),
];
const behaviors = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];
const pre_tokenizers = [
  { type: 'BertPreTokenizer' }, byte_level(false), byte_level(true), byte_level(true, false), { type: 'Whitespace' },
  { type: 'WhitespaceSplit' }, { type: 'Digits', individual_digits: true }, { type: 'Digits', individual_digits: false },
  { type: 'CharDelimiterSplit', delimiter: 'o' }, { type: 'FixedLength', length: 3 },
  metaspace('always'), metaspace('first'), metaspace('never'), metaspace('always', false),
  ...behaviors.map((behavior) => ({ type: 'Punctuation', behavior })),
  ...behaviors.map((behavior) => ({ type: 'Split', pattern: { Regex: '\\w+|[^\\w\\s]' }, behavior, invert: true })),
  ...behaviors.map((behavior) => ({ type: 'Split', pattern: { String: ' ' }, behavior, invert: false })),
  { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace('first'), { type: 'Punctuation', behavior: 'Isolated' }] },
];
const added = (id, content, options) =>
  ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: false, ...options });
const added_tokens = [
  added(1, '<x>', { special: true }), added(2, '[MASK]', { lstrip: true, special: true }),
  added(3, 'Yes', { normalized: true }), added(4, 'world', { normalized: true, single_word: true }),
  added(5, 'foo', { rstrip: true }), added(6, 'foo_bar', { lstrip: true, rstrip: true }),
];
const added_texts = ['a<x>b [MASK] <x> Yes, YES yes', 'World worlds world! foo  foo_bar  foobar <x', '<x>[MASK] foo'];

const special = (id, type_id) => ({ SpecialToken: { id, type_id } });
const place = (id, type_id) => ({ Sequence: { id, type_id } });
const template = {
  type: 'TemplateProcessing',
  single: [special('[CLS]', 0), place('A', 0), special('[SEP]', 0)],
  pair: [special('[CLS]', 0), place('A', 0), special('[SEP]', 0), place('B', 1), special('[SEP]', 1)],
  special_tokens: {
    '[CLS]': { id: '[CLS]', ids: [1, 3], tokens: ['[CLS]', '!'] }, '[SEP]': { id: '[SEP]', ids: [2], tokens: ['[SEP]'] },
  },
};
const roberta = (add_prefix_space) =>
  ({ type: 'RobertaProcessing', sep: ['</s>', 2], cls: ['<s>', 1], trim_offsets: true, add_prefix_space });
const post_processors = [
  null, template, { type: 'BertProcessing', sep: ['[SEP]', 2], cls: ['[CLS]', 1] }, roberta(true), roberta(false),
  { type: 'Sequence', processors: [byte_level(false), template] },
];
const padding = {
  strategy: { Fixed: 9 }, direction: 'Left', pad_to_multiple_of: 4, pad_id: 9, pad_type_id: 3, pad_token: '[PAD]',
};
const truncation = { direction: 'Right', max_length: 8, strategy: 'OnlyFirst', stride: 1 };
const pairs = [['  one two', ' three  four '], ['é', ''], ['one two three four five six', 'x y']];

const plan = [];
for (const normalizer of normalizers) plan.push([base({ normalizer, pre_tokenizer: characters }), texts]);
for (const pre_tokenizer of pre_tokenizers) plan.push([base({ pre_tokenizer }), texts]);
for (const normalizer of [null, { type: 'Lowercase' }]) {
  for (const pre_tokenizer of [{ type: 'WhitespaceSplit' }, byte_level(true), metaspace('first')]) {
    plan.push([base({ normalizer, pre_tokenizer, added_tokens }), added_texts]);
  }
}
for (const post_processor of post_processors) {
  const parts = { pre_tokenizer: byte_level(true), post_processor };
  plan.push([base(parts), [' one two ', 'x', ...pairs]]);
  if (!post_processor) continue;
  plan.push([base({ ...parts, padding }), [' one two ', pairs[0]]]);
  plan.push([base({ ...parts, truncation }), [pairs[2]]]);
}

(async () => {
  const lines = [];
  for (const [json, inputs] of plan) {
    const tokenizer = Tokenizer.fromString(JSON.stringify(json));
    const results = [];
    for (const input of inputs) {
      const [text, pair] = Array.isArray(input) ? input : [input, null];
      const encoding = await tokenizer.encode(text, pair);
      results.push({
        text, pair, ids: encoding.getIds(), tokens: encoding.getTokens(), offsets: encoding.getOffsets(),
        type_ids: encoding.getTypeIds(), word_ids: encoding.getWordIds(), attention: encoding.getAttentionMask(),
        special: encoding.getSpecialTokensMask(),
      });
    }
    lines.push(JSON.stringify({ tokenizer: json, results }));
  }
  process.stdout.write('[\n' + lines.join(',\n') + '\n]\n');
})();
