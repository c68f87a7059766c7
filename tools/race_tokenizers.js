// Races heed's encode against HuggingFace's: interleaved rounds over slices of the same text, one process a side.
//
//   race_tokenizers.js <build folder> <shared data> [--megabytes 50] [--slice 2] [--rounds 25] [--threads 1,2]
//
// tools/compare_tokenizers/run.sh has to have installed HuggingFace's tokenizers in the build folder before. Prints for
// each vocabulary and thread count the median MB/s [min-max] of each side and the median of the ratios of each round,
// then the memory that a loaded vocabulary takes.
'use strict'
const fs = require('fs')
const path = require('path')
const readline = require('readline')
const { createRequire } = require('module')
const { spawn } = require('child_process')
const { realLines } = require('./compare_tokenizers/texts.js')
const { published } = require('./compare_tokenizers/vocabularies.js')

const kBatch = 1000

// The other side of the race: HuggingFace's tokenizers behind the commands of heed_bench_worker.
async function huggingFaceWorker(build) {
  const { Tokenizer } = createRequire(path.resolve(build, 'compare_tokenizers/package.json'))('tokenizers')
  const loaded = {}
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { tokenizer: file, texts: textFile, begin, end } = JSON.parse(line)
    if (!loaded[file]) {
      const before = process.memoryUsage().rss
      const tokenizer = Tokenizer.fromFile(file)
      loaded[file] = { tokenizer, bytes: process.memoryUsage().rss - before, texts: fs.readFileSync(textFile, 'utf8').split('\n') }
    }
    const { tokenizer, bytes, texts } = loaded[file]
    const slice = texts.slice(begin, end)
    const size = slice.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    let tokens = 0
    const start = process.hrtime.bigint()
    for (let at = 0; at < slice.length; at += kBatch) {
      for (const encoding of await tokenizer.encodeBatch(slice.slice(at, at + kBatch))) tokens += encoding.getLength()
    }
    const seconds = Number(process.hrtime.bigint() - start) * 1e-9
    console.log(JSON.stringify({ t: seconds, mb_per_s: (size / seconds) * 1e-6, tokens, tokenizer_bytes: bytes }))
  }
}

class Worker {
  constructor(program, args, env) {
    this.process = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } })
    this.lines = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]()
  }
  async ask(command) {
    this.process.stdin.write(JSON.stringify(command) + '\n')
    const { value, done } = await this.lines.next()
    const answer = done ? { err: 'the worker died' } : JSON.parse(value)
    if (answer.err) throw new Error(answer.err)
    return answer
  }
  end() {
    this.process.stdin.end()
  }
}

// Lines of all data sets, mixed by a fixed stride, repeated up to the size.
function writeTexts(shared, file, megabytes) {
  const lines = realLines(shared).flat().filter((line) => line.trim())
  const out = []
  for (let i = 0, size = 0; size < megabytes * 1e6; ++i) {
    const line = lines[(i * 7919) % lines.length]
    out.push(line)
    size += Buffer.byteLength(line) + 1
  }
  fs.writeFileSync(file, out.join('\n') + '\n')
  return out.length
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]
const range = (values) => `${median(values).toFixed(1)} MB/s [${Math.min(...values).toFixed(1)}-${Math.max(...values).toFixed(1)}]`

async function race(workers, vocabulary, { textFile, lines, perSlice, rounds, threads }) {
  const speeds = { heed: [], huggingface: [] }
  const memory = {}
  for (let round = 0; round <= rounds; ++round) {
    const begin = (round * perSlice) % Math.max(1, lines - perSlice)
    const tokens = {}
    for (const [name, worker] of Object.entries(workers)) {
      const answer = await worker.ask({ cmd: 'tokenize', tokenizer: vocabulary[name], texts: textFile, begin, end: begin + perSlice, T: threads })
      if (round > 0) speeds[name].push(answer.mb_per_s)  // the first round loads
      tokens[name] = answer.tokens
      memory[name] = answer.tokenizer_bytes
    }
    if (tokens.heed !== tokens.huggingface) throw new Error(`${vocabulary.name}: ${tokens.heed} tokens here, ${tokens.huggingface} there`)
  }
  const ratio = median(speeds.heed.map((speed, i) => speed / speeds.huggingface[i]))
  console.log(`${vocabulary.name}, ${threads} thread${threads > 1 ? 's' : ''}: heed ${range(speeds.heed)} | HuggingFace ${range(speeds.huggingface)} | heed/HuggingFace ${ratio.toFixed(2)}`)
  return memory
}

async function main(build, shared, options) {
  const number = (name, fallback) => (options.includes(name) ? Number(options[options.indexOf(name) + 1]) : fallback)
  const threadCounts = options.includes('--threads') ? options[options.indexOf('--threads') + 1].split(',').map(Number) : [1, 2]
  const work = path.join(build, 'compare_tokenizers')
  const textFile = path.join(work, 'race.txt')
  const [megabytes, slice] = [number('--megabytes', 50), number('--slice', 2)]
  const lines = writeTexts(shared, textFile, megabytes)
  const settings = { textFile, lines, perSlice: Math.ceil((lines * slice) / megabytes), rounds: number('--rounds', 25) }
  for (const threads of threadCounts) {
    const env = { RAYON_NUM_THREADS: String(threads), TOKENIZERS_PARALLELISM: String(threads > 1) }
    for (const vocabulary of published(shared, work)) {
      const workers = {
        heed: new Worker(path.join(build, 'bin/heed_bench_worker'), [], env),
        huggingface: new Worker(process.execPath, [__filename, '--worker', build], env),
      }
      const memory = await race(workers, vocabulary, { ...settings, threads })
      for (const worker of Object.values(workers)) worker.end()
      if (threads === threadCounts[0]) {
        console.log(`${vocabulary.name}, loaded: heed ${(memory.heed / 1e6).toFixed(1)} MB live | HuggingFace ${(memory.huggingface / 1e6).toFixed(1)} MB resident`)
      }
    }
  }
}

if (process.argv[2] === '--worker') huggingFaceWorker(process.argv[3])
else main(process.argv[2], process.argv[3], process.argv.slice(4))
