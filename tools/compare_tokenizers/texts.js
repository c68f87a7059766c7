// The texts of the comparison: real lines in several languages, the big list of naughty strings, and generated ones.
// Each is a JSON value as heed_tokenizer_lines takes it: "text", ["text", "pair"] or {"hex": "bytes"}.
'use strict'
const fs = require('fs')
const path = require('path')
const zlib = require('zlib')

// The files of a .zip by name; enough for archives without encryption or ZIP64.
function unzip(bytes) {
  const files = {}
  let end = bytes.length - 22
  while (end >= 0 && bytes.readUInt32LE(end) !== 0x06054b50) --end
  let at = bytes.readUInt32LE(end + 16)
  for (let count = bytes.readUInt16LE(end + 10); count > 0; --count) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)]
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field))
    const local = bytes.readUInt32LE(at + 42)
    const begin = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const body = bytes.subarray(begin, begin + packed)
    files[bytes.toString('utf8', at + 46, at + 46 + name)] = method === 0 ? body : zlib.inflateRawSync(body)
    at += 46 + name + extra + comment
  }
  return files
}

function walk(folder) {
  const files = []
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name)
    if (entry.isDirectory()) files.push(...walk(file))
    else if (!/LICENSE|README/.test(entry.name)) files.push(file)
  }
  return files.sort()
}

// Every distinct line of every file, by folder: markup, tabs and all.
function realLines(shared) {
  const all = []
  const root = path.join(shared, 'data')
  for (const folder of fs.existsSync(root) ? fs.readdirSync(root).sort() : []) {
    const lines = new Set()
    for (const file of walk(path.join(root, folder))) {
      const bytes = fs.readFileSync(file)
      const parts = file.endsWith('.zip') ? Object.values(unzip(bytes)) : [file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes]
      for (const part of parts) for (const line of part.toString('utf8').split('\n')) if (line.length < 20000) lines.add(line)
    }
    all.push([...lines])
  }
  return all
}

function naughtyStrings(shared) {
  const file = path.join(shared, 'suites/blns/blns.json')
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : []
}

function randomNumbers(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return { next, below: (n) => Math.floor(next() * n), of: (list) => list[Math.floor(next() * list.length)] }
}

// Ranges of code points that tokenizers get wrong.
const kPools = {
  ascii: [[0x21, 0x7e]],
  letters: [[0x41, 0x5a], [0x61, 0x7a], [0x61, 0x7a]],
  latin: [[0xa0, 0x24f], [0x1e00, 0x1eff], [0x130, 0x131], [0xdf, 0xdf], [0x1c4, 0x1cc], [0x149, 0x149]],
  greek: [[0x370, 0x3ff], [0x1f00, 0x1fff], [0x3a3, 0x3a3], [0x3c2, 0x3c3]],
  cyrillic: [[0x400, 0x52f]],
  marks: [[0x300, 0x36f], [0x483, 0x489], [0x591, 0x5bd], [0x64b, 0x652], [0x1ab0, 0x1aff], [0x20d0, 0x20f0], [0xfe20, 0xfe2f], [0x3099, 0x309a]],
  spaces: [[0x09, 0x0d], [0x20, 0x20], [0x20, 0x20], [0x85, 0x85], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000]],
  invisible: [[0x200b, 0x200f], [0x2060, 0x2064], [0xfeff, 0xfeff], [0xad, 0xad], [0x180e, 0x180e], [0x34f, 0x34f], [0x202a, 0x202e], [0x2066, 0x2069], [0xfff9, 0xfffd]],
  controls: [[0, 0x1f], [0x7f, 0x9f]],
  rtl: [[0x590, 0x6ff], [0x750, 0x77f], [0xfb1d, 0xfdff], [0xfe70, 0xfeff]],
  indic: [[0x900, 0xdff], [0xe00, 0xeff], [0x1000, 0x109f]],
  cjk: [[0x4e00, 0x9fff], [0x3400, 0x4dbf], [0xf900, 0xfaff], [0x20000, 0x2a6df], [0x2f800, 0x2fa1f], [0x30000, 0x3134f], [0x3000, 0x303f]],
  kana: [[0x3040, 0x30ff], [0xff00, 0xffef], [0x31f0, 0x31ff]],
  hangul: [[0xac00, 0xd7a3], [0x1100, 0x11ff], [0x3130, 0x318f], [0xa960, 0xa97f], [0xd7b0, 0xd7ff]],
  compatibility: [[0x2460, 0x24ff], [0x3200, 0x33ff], [0xfb00, 0xfb06], [0x2100, 0x218f], [0x1d400, 0x1d7ff], [0x2070, 0x209f]],
  symbols: [[0x2010, 0x206f], [0x20a0, 0x20cf], [0x2190, 0x2bff], [0x3000, 0x303f], [0xfe30, 0xfe6f]],
  digits: [[0x30, 0x39], [0x660, 0x669], [0x966, 0x96f], [0xbc, 0xbe], [0x2150, 0x2189], [0x1d7ce, 0x1d7ff]],
  emoji: [[0x1f300, 0x1faff], [0x1f1e6, 0x1f1ff], [0x1f3fb, 0x1f3ff], [0x200d, 0x200d], [0xfe0f, 0xfe0f], [0x20e3, 0x20e3]],
  planes: [[0x10000, 0x1ffff], [0xe0000, 0xe01ef], [0xf0000, 0x10ffff]],
  anything: [[0, 0xd7ff], [0xe000, 0xffff], [0x10000, 0x3ffff], [0, 0x10ffff]],
}
const kEmoji = ['👩‍❤️‍💋‍👨', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇩🇪', '🇯🇵🇨🇳', '👍🏽', '1️⃣', '🧑🏿‍🚀', '☺️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👩', '‍', '🦙']
const kTokens = ['[CLS]', '[SEP]', '[MASK]', '[UNK]', ' [MASK] ', '<s>', '</s>', '<unk>', '<pad>', '<|endoftext|>', '##', '##ing', '▁', '▁▁', 'Ġ', 'Ċ', '<0x41>',
  "'s", "'ll", "n't", " 't", ' .', '...', '%s', '\r\n', '\n\n', '\t', '  ', '    ', '[cls]', '[Mask]', 'x[SEP]y', '<mask>', '<tag>', ' <tag> ', 'a<tag>b', '[One]', '[one]', 'é[ONE]']

function point(random, pool) {
  const [low, high] = random.of(kPools[pool])
  const value = low + random.below(high - low + 1)
  return value >= 0xd800 && value <= 0xdfff ? '\ufffd' : String.fromCodePoint(value)
}

function run(random, pool, longest) {
  let text = ''
  for (let count = 1 + random.below(longest); count > 0; --count) text += point(random, pool)
  return text
}

const kNames = Object.keys(kPools)
function word(random) {
  const kind = random.below(12)
  if (kind < 3) return run(random, 'letters', 12)
  if (kind === 3) return random.of(kEmoji)
  if (kind === 4) return random.of(kTokens)
  if (kind < 7) {
    let text = ''
    for (let count = 1 + random.below(5); count > 0; --count) text += point(random, random.of(['letters', 'latin', 'greek', 'hangul', 'kana', 'indic', 'rtl'])) + run(random, random.of(['marks', 'marks', 'invisible']), 3)
    return text
  }
  return run(random, random.of(kNames), 8)
}

function longText(random) {
  const [pool, length] = [random.of(kNames), random.of([90, 99, 100, 101, 200, 1000, 5000])]
  let text = ''
  for (let i = 0; i < length; ++i) text += point(random, pool)
  return random.below(2) ? text : random.of(['a', 'ab', '.', ' ', 'é', '漢', '👍', '\u0301', "'"]).repeat(length)
}

function brokenBytes(random) {
  const parts = []
  for (let count = 1 + random.below(6); count > 0; --count) {
    const kind = random.below(5)
    if (kind === 0) parts.push(Buffer.from([0xed, 0xa0 + random.below(32), 0x80 + random.below(64)]))  // a surrogate
    else if (kind === 1) parts.push(Buffer.from(word(random)).subarray(0, 1 + random.below(4)))
    else if (kind === 2) parts.push(Buffer.from(Array.from({ length: 1 + random.below(5) }, () => 0x80 + random.below(128))))
    else if (kind === 3) parts.push(Buffer.from([random.of([0xc0, 0xc1, 0xf4, 0xf5, 0xf8, 0xff, 0xe0, 0xf0]), 0x80 + random.below(64), 0x80 + random.below(64)]))
    else parts.push(Buffer.from(word(random) + ' '))
  }
  return { hex: Buffer.concat(parts).toString('hex') }
}

function sentence(random) {
  let text = ''
  for (let count = random.below(10); count >= 0; --count) {
    text += word(random)
    const gap = random.below(8)
    text += gap < 4 ? ' ' : gap < 5 ? run(random, 'spaces', 4) : gap < 6 ? run(random, 'invisible', 1) : ''
  }
  return text
}

function generated(random) {
  const kind = random.below(100)
  if (kind === 0) return random.of(['', ' ', '  ', '\n', '\t \n', '\u00a0', '\u3000', '\u200b', '\ufeff', '\0'])
  if (kind === 1) return run(random, 'spaces', 40)
  if (kind === 2) return random.below(10) === 0 ? longText(random) : run(random, random.of(kNames), 120)
  if (kind < 8) return brokenBytes(random)
  if (kind < 14) return [sentence(random), sentence(random)]
  if (kind < 30) return run(random, 'anything', 40)
  return sentence(random)
}

function shuffle(random, list) {
  for (let i = list.length - 1; i > 0; --i) {
    const other = random.below(i + 1)
    ;[list[i], list[other]] = [list[other], list[i]]
  }
}

// `count` texts, the same ones for the same seed: the naughty strings, half of the others real lines in turn from each
// data set, half generated; mixed.
function makeTexts(shared, count, seed) {
  const random = randomNumbers(seed)
  const texts = naughtyStrings(shared).slice(0, count / 4)
  const sources = realLines(shared).filter((lines) => lines.length > 0)
  for (const lines of sources) shuffle(random, lines)
  const counts = { naughty: texts.length, real: 0, generated: 0 }
  for (let turn = 0; texts.length < count; ++turn) {
    const lines = sources.length > 0 && turn % 2 === 0 ? sources[(turn / 2) % sources.length] : []
    if (lines.length > 0) {
      texts.push(lines.pop())
      ++counts.real
    } else {
      texts.push(generated(random))
      ++counts.generated
    }
  }
  shuffle(random, texts)
  return { texts, counts }
}

module.exports = { makeTexts, realLines }
