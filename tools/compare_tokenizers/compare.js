// compare.js <folder of heed's programs> <shared data> <work folder> <texts per vocabulary> [expression for names]
//
// Encodes and decodes the same texts with heed and with HuggingFace's tokenizers and compares everything they say:
// ids, tokens, offsets, type ids, masks, word ids, windows, decoded text. Prints a count for each vocabulary and the
// first differences in full; exits with 1 if there is one.
'use strict'
const fs = require('fs')
const path = require('path')
const readline = require('readline')
const { createRequire } = require('module')
const { spawn } = require('child_process')
const { makeTexts } = require('./texts.js')
const { vocabularies } = require('./vocabularies.js')

const [programs, shared, work, count, only] = process.argv.slice(2)
const { Tokenizer } = createRequire(path.resolve(work, 'package.json'))('tokenizers')
const kBatch = 500
const kShown = 3
const [kWords, kWindows, kNotCompared] = [6, 9, 'not compared']
const kSpecials = 2  // around a single text, in the vocabularies with truncation
const kFields = ['ids', 'tokens', 'offsets', 'type ids', 'special mask', 'attention mask', 'word ids', 'decoded', 'decoded without special tokens', 'windows']

const withoutBroken = (text) => Buffer.from(text).toString('utf8')  // lone surrogates cannot come out of UTF-8
function inputOf(text) {
  if (typeof text === 'string') return withoutBroken(text)
  return Array.isArray(text) ? text.map(withoutBroken) : Buffer.from(text.hex, 'hex').toString('utf8')
}

function describe(encoding) {
  return [encoding.getIds(), encoding.getTokens(), encoding.getOffsets(), encoding.getTypeIds(), encoding.getSpecialTokensMask(), encoding.getAttentionMask(),
    encoding.getWordIds().map((word) => (word === undefined ? null : word))]
}

async function one(tokenizer, input) {
  try {
    const encoding = Array.isArray(input) ? await tokenizer.encode(input[0], input[1]) : await tokenizer.encode(input)
    const ids = encoding.getIds()
    return [...describe(encoding), await tokenizer.decode(ids, false), await tokenizer.decode(ids, true), encoding.getOverflowing().map(describe)]
  } catch (error) {
    return { error: error.message }
  }
}

// Since 0.23.1 HuggingFace stops at max_length tokens, so its windows lack what comes after
// (huggingface/tokenizers#2091). What it gives when it truncates a finished encoding is still whole; of pairs, only
// the windows and the numbers of words are not compared. LongestFirst sees two texts that were cut before, and may
// share out an odd length the other way: pairs are left out there.
async function truncated(tokenizer, input, { max_length, stride, direction, strategy }) {
  if (Array.isArray(input) || strategy === 'OnlySecond') {
    const answer = await one(tokenizer, input)
    if (!answer.error) answer[kWords] = answer[kWindows] = kNotCompared
    return answer
  }
  tokenizer.disableTruncation()
  const encoding = await tokenizer.encode(input, null, { addSpecialTokens: false })
  encoding.truncate(max_length - kSpecials, stride, direction.toLowerCase())
  const whole = tokenizer.postProcess(encoding, null, true)
  tokenizer.setTruncation(max_length, { strategy, direction: direction.toLowerCase(), stride })
  const ids = whole.getIds()
  return [...describe(whole), await tokenizer.decode(ids, false), await tokenizer.decode(ids, true), whole.getOverflowing().map(describe)]
}

async function expected(tokenizer, texts, truncation) {
  const inputs = texts.map(inputOf)
  if (truncation) {
    const answers = []
    for (const input of inputs) answers.push(await truncated(tokenizer, input, truncation))
    return answers
  }
  try {
    const encodings = await tokenizer.encodeBatch(inputs)
    const ids = encodings.map((encoding) => encoding.getIds())
    const [all, plain] = [await tokenizer.decodeBatch(ids, false), await tokenizer.decodeBatch(ids, true)]
    return encodings.map((encoding, i) => [...describe(encoding), all[i], plain[i], encoding.getOverflowing().map(describe)])
  } catch {
    return Promise.all(inputs.map((input) => one(tokenizer, input)))  // one text that is refused fails its batch
  }
}

function show(name, text, found, wanted) {
  console.log(`  DIFFERENT: ${JSON.stringify(text)}`)
  if (found.error || wanted.error) {
    console.log(`    heed: ${found.error || 'encodes it'}\n    HuggingFace: ${wanted.error || 'encodes it'}`)
    return
  }
  for (const [i, field] of kFields.entries()) {
    const [ours, theirs] = [JSON.stringify(found[i]), JSON.stringify(wanted[i])]
    if (ours !== theirs) console.log(`    ${field}\n      heed:        ${ours}\n      HuggingFace: ${theirs}`)
  }
}

async function compare({ name, heed, huggingface, share = 1, truncation, leftOut }, texts) {
  let tokenizer
  try {
    tokenizer = Tokenizer.fromFile(huggingface)
  } catch (error) {
    console.log(`  HuggingFace does not load ${huggingface}: ${error.message}`)
    return 1
  }
  const chosen = texts.slice(0, Math.ceil(texts.length * share))
  const pairsToo = !truncation || truncation.strategy !== 'LongestFirst'
  const used = chosen.filter((text) => pairsToo || !Array.isArray(text)).filter((text) => !leftOut || ![inputOf(text)].flat().some((part) => leftOut.test(part)))
  const file = path.join(work, 'texts.jsonl')
  fs.writeFileSync(file, used.map((text) => JSON.stringify(typeof text === 'object' && !Array.isArray(text) ? text : inputOf(text))).join('\n') + '\n')
  const program = spawn(path.join(programs, 'heed_tokenizer_lines'), [heed, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => program.on('close', resolve))
  const lines = readline.createInterface({ input: program.stdout, crlfDelay: Infinity })[Symbol.asyncIterator]()
  let different = 0, refused = 0
  for (let begin = 0; begin < used.length; begin += kBatch) {
    const batch = used.slice(begin, begin + kBatch)
    for (const [i, wanted] of (await expected(tokenizer, batch, truncation)).entries()) {
      const { value: line, done } = await lines.next()
      if (done) {
        console.log(`${name}: heed gave no answer to text ${begin + i}`)
        return different + 1
      }
      if (line === JSON.stringify(wanted)) continue
      const found = JSON.parse(line)
      for (const [field, value] of Object.entries(wanted)) if (value === kNotCompared) found[field] = kNotCompared
      if (JSON.stringify(found) === JSON.stringify(wanted)) continue
      if (found.error && wanted.error) {
        ++refused
      } else if (++different <= kShown) {
        show(name, batch[i], found, wanted)
      }
    }
  }
  if ((await ended) !== 0) ++different
  console.log(`${different === 0 ? 'same' : 'DIFFERENT'}: ${different} of ${used.length} texts differ${refused ? `, ${refused} refused by both` : ''}${used.length < chosen.length ? `, ${chosen.length - used.length} left out` : ''}: ${name}`)
  return different
}

async function main() {
  const { texts, counts } = makeTexts(shared, Number(count), 2020)
  console.log(`compare_tokenizers: ${texts.length} texts per vocabulary (${counts.naughty} naughty, ${counts.real} real, ${counts.generated} generated)`)
  const trainingBytes = Number(count) > 20000 ? 3e6 : 4e5
  let different = 0, compared = 0
  for (const vocabulary of vocabularies(Tokenizer, { heed: path.join(programs, 'heed'), shared, work, trainingBytes })) {
    if (only && !new RegExp(only).test(vocabulary.name)) continue
    different += await compare(vocabulary, texts)
    compared += Math.ceil(texts.length * (vocabulary.share || 1))
  }
  console.log(`compare_tokenizers: ${different} of ${compared} comparisons differ`)
  process.exitCode = different === 0 ? 0 : 1
}
main()
