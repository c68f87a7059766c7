// How often ONNX Runtime's vector of a sentence changes with its company, as in same_bits.cpp.
// usage: onnx_half.js <folder with node_modules> <sentences.jsonl, from heed tokenize> <model.onnx of torch_half.py>
'use strict';
const fs = require('fs');
const path = require('path');
const [modules, sentencesFile, modelFile] = process.argv.slice(2);
const ort = require(path.join(modules, 'node_modules', 'onnxruntime-node'));

const sentences = fs.readFileSync(sentencesFile, 'utf8').trim().split('\n').map(line => JSON.parse(line).ids);

async function embedAll(session, order, batch) {
  const rows = new Array(sentences.length);
  for (let begin = 0; begin < order.length; begin += batch) {
    const chosen = order.slice(begin, begin + batch);
    const longest = Math.max(...chosen.map(i => sentences[i].length));
    const ids = new BigInt64Array(chosen.length * longest), mask = new BigInt64Array(chosen.length * longest);
    chosen.forEach((sentence, row) => sentences[sentence].forEach((id, column) => {
      ids[row * longest + column] = BigInt(id);
      mask[row * longest + column] = 1n;
    }));
    const shape = [chosen.length, longest];
    const { vector } = await session.run({ ids: new ort.Tensor('int64', ids, shape),
                                           mask: new ort.Tensor('int64', mask, shape) });
    const width = vector.dims[1];
    chosen.forEach((sentence, row) => {
      rows[sentence] = Buffer.from(vector.data.slice(row * width, (row + 1) * width).buffer);
    });
  }
  return rows;
}

async function main() {
  const inOrder = sentences.map((_, i) => i), shuffled = inOrder.map(i => i * 7919 % sentences.length);
  const ways = [['alone', inOrder, 1], ['batches of 32', inOrder, 32], ['batches of 256', inOrder, 256],
                ['shuffled, batches of 32', shuffled, 32]];
  let alone;
  for (const threads of [1, 2]) {
    const session = await ort.InferenceSession.create(modelFile,
      { intraOpNumThreads: threads, interOpNumThreads: 1, graphOptimizationLevel: 'all', logSeverityLevel: 3 });
    for (const [name, order, batch] of ways) {
      const rows = await embedAll(session, order, batch);
      alone ??= rows;
      const different = rows.filter((row, i) => !row.equals(alone[i])).length;
      console.log(`ONNX Runtime  ${name.padEnd(26)} ${threads} ${threads === 1 ? 'thread ' : 'threads'}  ` +
                  `${String(different).padStart(4)} of ${rows.length} differ`);
    }
  }
}

main().catch(error => { console.error(String(error)); process.exit(1); });
