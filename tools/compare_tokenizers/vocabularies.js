// The tokenizers of the comparison: { name, heed: what heed loads, huggingface: the tokenizer.json that HuggingFace
// loads, share: of the texts, truncation: that of the file }. The two files differ where heed reads those from before
// tokenizer.json.
'use strict'
const fs = require('fs')
const path = require('path')
const { execFileSync } = require('child_process')
const { realLines } = require('./texts.js')

function bare(model, more) {
  return { version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, model, ...more }
}
function added(id, content, options) {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...options }
}
function around(before, after, ids) {
  const special = (name, type) => ({ SpecialToken: { id: name, type_id: type } })
  const sequence = (name, type) => ({ Sequence: { id: name, type_id: type } })
  const tokens = {}
  for (const name of [before, after]) tokens[name] = { id: name, ids: [ids[name]], tokens: [name] }
  return {
    type: 'TemplateProcessing',
    single: [special(before, 0), sequence('A', 0), special(after, 0)],
    pair: [special(before, 0), sequence('A', 0), special(after, 0), sequence('B', 1), special(after, 1)],
    special_tokens: tokens,
  }
}

const bpeModel = (vocab, merges, more) => ({ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab, merges, ...more })
const wordPieceModel = (vocab) => ({ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab })
const byteLevel = (prefix, trim) => ({ type: 'ByteLevel', add_prefix_space: prefix, trim_offsets: trim, use_regex: true })
const metaspace = (scheme) => ({ type: 'Metaspace', replacement: '▁', prepend_scheme: scheme, split: true })
const bertNormalizer = (more) => ({ type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true, ...more })

function bert(vocab, normalizer) {
  const specials = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
  return bare(wordPieceModel(vocab), {
    added_tokens: specials.map((token) => added(vocab[token], token)).sort((a, b) => a.id - b.id),
    normalizer,
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: around('[CLS]', '[SEP]', vocab),
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  })
}
function gpt2(vocab, merges) {
  return bare(bpeModel(vocab, merges, { continuing_subword_prefix: '', end_of_word_suffix: '' }), {
    added_tokens: [added(vocab['<|endoftext|>'], '<|endoftext|>')],
    pre_tokenizer: byteLevel(false, true),
    post_processor: byteLevel(true, false),
    decoder: byteLevel(true, true),
  })
}

function saverIn(work) {
  return (name, json) => {
    const file = path.join(work, name + '.json')
    fs.writeFileSync(file, JSON.stringify(json))
    return file
  }
}

// The vocabularies of the shared data.
function published(shared, work) {
  const save = saverIn(work)
  const folder = path.join(shared, 'suites/tokenizers')
  if (!fs.existsSync(folder)) return []
  const lines = (file) => fs.readFileSync(path.join(folder, file), 'utf8').split('\n').filter((line) => line)
  const bertVocab = Object.fromEntries(lines('bert-base-uncased/vocab.txt').map((token, id) => [token, id]))
  const gptVocab = JSON.parse(fs.readFileSync(path.join(folder, 'gpt2/vocab.json'), 'utf8'))
  const merges = lines('gpt2/merges.txt').filter((line) => !line.startsWith('#version'))
  return [
    { name: 'WordPiece, bert-base-uncased from vocab.txt', heed: path.join(folder, 'bert-base-uncased'), huggingface: save('bert-uncased', bert(bertVocab, bertNormalizer())) },
    { name: 'byte-level BPE, gpt2 from vocab.json and merges.txt', heed: path.join(folder, 'gpt2'), huggingface: save('gpt2', gpt2(gptVocab, merges)) },
  ]
}

// The text that both sides learn from, about `bytes` long.
function trainingFile(shared, work, bytes) {
  const file = path.join(work, 'training.txt')
  const each = realLines(shared).filter((lines) => lines.length > 0)
  const parts = each.map((lines) => lines.join('\n').slice(0, bytes / each.length))
  fs.writeFileSync(file, parts.join('\n') + '\n')
  return file
}

function trainedByHuggingFace(Tokenizer, corpus, save) {
  const train = (model, more) => {
    const tokenizer = Tokenizer.fromString(JSON.stringify(bare(model, more)))
    tokenizer.train([corpus])
    const file = save('trained', {})
    tokenizer.save(file)
    return JSON.parse(fs.readFileSync(file, 'utf8')).model
  }
  const numbered = (specials, vocab) => Object.fromEntries([...specials, ...Object.keys(vocab).sort((a, b) => vocab[a] - vocab[b])].map((token, id) => [token, id]))
  const nfkc = { type: 'NFKC' }

  const cased = train(wordPieceModel({}), { normalizer: bertNormalizer({ lowercase: false }), pre_tokenizer: { type: 'BertPreTokenizer' } })
  const casedVocab = numbered(['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'], cased.vocab)
  const bytes = train(bpeModel({}, []), { pre_tokenizer: byteLevel(false, true) })
  const spaced = train(bpeModel({}, []), { pre_tokenizer: metaspace('always') })
  const unigram = train({ type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0]], byte_fallback: false }, { normalizer: nfkc, pre_tokenizer: metaspace('always') })
  const words = train({ type: 'WordLevel', unk_token: '[UNK]', vocab: {} }, { pre_tokenizer: { type: 'Whitespace' } })

  const byteTokens = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const specials = ['<unk>', '<s>', '</s>']
  const pieces = [...specials.map((token) => [token, 0]), ...unigram.vocab.filter(([token]) => token !== '<unk>')]
  const unigramParts = {
    normalizer: nfkc,
    added_tokens: specials.map((token, id) => added(id, token)),
    pre_tokenizer: metaspace('always'),
    post_processor: around('<s>', '</s>', { '<s>': 1, '</s>': 2 }),
    decoder: metaspace('always'),
  }
  const llamaVocab = numbered([...specials, ...byteTokens], spaced.vocab)
  const replace = (from, to) => ({ type: 'Replace', pattern: { String: from }, content: to })
  const llama = bare(bpeModel(llamaVocab, spaced.merges, { unk_token: '<unk>', fuse_unk: true, byte_fallback: true }), {
    added_tokens: specials.map((token, id) => added(id, token)),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, replace(' ', '▁')] },
    decoder: { type: 'Sequence', decoders: [replace('▁', ' '), { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] },
  })
  const list = {
    'WordPiece cased, trained by HuggingFace': bert(casedVocab, bertNormalizer({ lowercase: false })),
    'byte-level BPE, trained by HuggingFace': gpt2(numbered(['<|endoftext|>'], bytes.vocab), bytes.merges),
    'Metaspace Unigram, trained by HuggingFace': bare({ ...unigram, unk_id: 0, vocab: pieces }, unigramParts),
    'Metaspace Unigram with bytes, trained by HuggingFace': bare({ ...unigram, unk_id: 0, byte_fallback: true, vocab: [...pieces, ...byteTokens.map((token) => [token, -20])] }, unigramParts),
    'BPE with bytes as Llama, trained by HuggingFace': llama,
    'WordLevel, trained by HuggingFace': bare({ ...words, vocab: numbered(['[UNK]'], words.vocab) }, { pre_tokenizer: { type: 'Whitespace' } }),
  }
  return Object.entries(list).map(([name, json]) => {
    const file = save(name.toLowerCase().replace(/[^a-z]+/g, '-'), json)
    return { name, heed: file, huggingface: file }
  })
}

function trainedByHeed(heed, corpus, work) {
  return ['bpe', 'wordpiece', 'unigram', 'wordlevel'].map((type) => {
    const folder = path.join(work, `heed-${type}`)
    execFileSync(heed, ['tokenizer', 'train', '--type', type, '--vocab-size', '8000', '--input', corpus, '--output', folder, '--overwrite'], { stdio: 'pipe' })
    const file = path.join(folder, 'tokenizer.json')
    return { name: `${type}, trained by heed`, heed: folder, huggingface: file }
  })
}

// One stage at a time before a model that spells every character in bytes: its ids are the text that reached it.
function stages(save) {
  const byteTokens = Array.from({ length: 256 }, (_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, -2])
  const spell = { type: 'Unigram', unk_id: 0, byte_fallback: true, vocab: [['<unk>', 0], ...byteTokens, ['<s>', 0], ['</s>', 0]] }
  const ids = { '<s>': 257, '</s>': 258 }
  const list = []
  const stage = (name, more, model) => {
    const file = save('stage-' + list.length, bare(model || spell, { decoder: { type: 'ByteFallback' }, ...more }))
    const classes = /"Regex":"[^"]*\\\\[pwd]/.test(JSON.stringify(more))
    list.push({ name, heed: file, huggingface: file, share: 0.1, truncation: more.truncation, leftOut: classes ? newer : undefined })
  }
  const regex = (pattern) => ({ Regex: pattern })
  // Letters, numbers and marks that Debian's Oniguruma (Unicode 14) does not know and HuggingFace's does.
  const newer = /[\u{897}\u{CF3}\u{ECE}\u{1C89}\u{1C8A}\u{A7CB}-\u{A7DC}\u{10000}-\u{1EFFF}\u{1FB00}-\u{1FFFF}\u{2EBE1}-\u{2F7FF}\u{3134B}-\u{E00FF}]/u
  const normalizers = [
    ...['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents', 'Nmt'].map((type) => ({ type })),
    { type: 'Strip', strip_left: true, strip_right: false }, { type: 'Strip', strip_left: false, strip_right: true },
    { type: 'Replace', pattern: { String: 'a' }, content: 'bcd' }, { type: 'Replace', pattern: regex('\\s+'), content: ' ' },
    { type: 'Replace', pattern: regex('\\p{L}{3}'), content: '' }, { type: 'Prepend', prepend: '▁é' },
    bertNormalizer({ clean_text: false }), bertNormalizer({ handle_chinese_chars: false }), bertNormalizer({ strip_accents: true, lowercase: false }), bertNormalizer({ strip_accents: false }),
    { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'StripAccents' }, { type: 'Lowercase' }, { type: 'NFKC' }] },
    { type: 'ByteLevel' },
  ]
  for (const normalizer of normalizers) stage(`normalizer ${JSON.stringify(normalizer)}`, { normalizer })
  const split = (pattern, behavior, invert) => ({ type: 'Split', pattern, behavior, invert })
  const gpt4 = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
  const behaviors = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']
  const preTokenizers = [
    ...['BertPreTokenizer', 'Whitespace', 'WhitespaceSplit'].map((type) => ({ type })),
    byteLevel(true, true), { ...byteLevel(false, true), use_regex: false },
    metaspace('always'), metaspace('first'), metaspace('never'), { ...metaspace('always'), split: false },
    ...behaviors.map((behavior) => ({ type: 'Punctuation', behavior })),
    { type: 'Digits', individual_digits: true }, { type: 'Digits', individual_digits: false },
    { type: 'CharDelimiterSplit', delimiter: ' ' }, { type: 'CharDelimiterSplit', delimiter: 'é' },
    ...behaviors.flatMap((behavior) => [split({ String: ' ' }, behavior, false), split(regex('\\w+'), behavior, true)]),
    split(regex(gpt4), 'Isolated', false), split(regex('\\p{Han}|\\p{Mn}+|\\d'), 'Isolated', false),
    { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Digits', individual_digits: true }, { type: 'Punctuation', behavior: 'Isolated' }, byteLevel(true, true)] },
  ]
  for (const pre_tokenizer of preTokenizers) stage(`pre-tokenizer ${JSON.stringify(pre_tokenizer)}`, { pre_tokenizer })
  const tokens = [
    added(257, '<s>'), added(258, '</s>', { lstrip: true, rstrip: true }), added(259, '<tag>', { lstrip: true, special: false }), added(260, '[ONE]', { normalized: true, special: false }),
    added(261, 'ab', { single_word: true }), added(262, '##', { rstrip: true }), added(263, 'é', { normalized: true, special: false }), added(264, '▁▁'), added(265, '...', { special: false }),
  ]
  stage('added tokens', { added_tokens: tokens })
  stage('added tokens, lower case, Metaspace', { added_tokens: tokens, normalizer: { type: 'Lowercase' }, pre_tokenizer: metaspace('first') })
  stage('added tokens, NFD, ByteLevel', { added_tokens: tokens, normalizer: { type: 'NFD' }, pre_tokenizer: byteLevel(true, true) })
  const post_processor = around('<s>', '</s>', ids)
  const strategies = ['LongestFirst', 'OnlyFirst', 'OnlySecond']
  for (const [i, direction] of ['Right', 'Left', 'Right'].entries()) {
    stage(`truncation ${strategies[i]} ${direction}`, { post_processor, pre_tokenizer: { type: 'WhitespaceSplit' }, truncation: { direction, max_length: 12, strategy: strategies[i], stride: i } })
  }
  stage('padding', { post_processor, padding: { strategy: { Fixed: 20 }, direction: 'Left', pad_to_multiple_of: 8, pad_id: 0, pad_type_id: 3, pad_token: '<unk>' } })
  stage('BertProcessing', { post_processor: { type: 'BertProcessing', sep: ['</s>', 258], cls: ['<s>', 257] } })
  for (const trim of [true, false]) {
    stage(`RobertaProcessing, trim ${trim}`, { pre_tokenizer: byteLevel(trim, true), post_processor: { type: 'RobertaProcessing', sep: ['</s>', 258], cls: ['<s>', 257], trim_offsets: trim, add_prefix_space: trim } })
  }
  const decoders = [{ type: 'WordPiece', prefix: '##', cleanup: true }, metaspace('always'), metaspace('never'), { type: 'Fuse' }, { type: 'BPEDecoder', suffix: '</w>' }, { type: 'CTC', pad_token: '<pad>', word_delimiter_token: '|', cleanup: true },
    { type: 'Replace', pattern: { String: '0x' }, content: '▁' }, { type: 'Strip', content: '<', start: 1, stop: 0 }, byteLevel(true, true), null]
  for (const decoder of decoders) stage(`decoder ${JSON.stringify(decoder)}`, { decoder, pre_tokenizer: metaspace('always') })
  return list
}

function vocabularies(Tokenizer, { heed, shared, work, trainingBytes }) {
  const save = saverIn(work)
  const list = published(shared, work)
  const corpus = trainingFile(shared, work, trainingBytes)
  if (fs.statSync(corpus).size > 100) list.push(...trainedByHuggingFace(Tokenizer, corpus, save), ...trainedByHeed(heed, corpus, work))
  else console.log(`compare_tokenizers: ${shared} has no texts: nothing is trained`)
  return [...list, ...stages(save)]
}

module.exports = { published, vocabularies }
