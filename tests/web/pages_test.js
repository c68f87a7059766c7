// Drives the pages that pages_test.sh made: hover, keys, clicks, word merging, long texts, no request except for the file.
// Screenshots stay in the work folder.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const puppeteer = require("puppeteer-core");
const readers = require("./readers_test.js");
const { colors, open } = require("./tab.js");

const [browserPath, work] = process.argv.slice(2);
async function shortText(browser) {
  const tab = await open(browser, work, "short.html", { hash: "#layer=1&head=1&special=shown" });
  const { page, state, key, text, shot } = tab;
  assert.equal(await page.evaluate(() => window.heed.app.data.tokens.join(" ")), "[CLS] the fox ##gang [UNK] [UNK] s ##c ##r ##i ##p ##t [UNK] [UNK] ! [UNK] [UNK] [UNK] b [UNK] jumps [UNK] [UNK] b [UNK] over [UNK] berlin [UNK] [SEP]");
  assert.equal(await page.$("#stage b"), null); // the text is text
  assert.match(await text("#note"), /Attention is not explanation/);
  assert.ok(await colors(page) > 3);
  await shot("head");

  await page.hover('.token.from[data-unit="3"]');
  let now = await state();
  assert.deepEqual(now.pointed, { unit: 3, toward: false });
  assert.match(await text("#status"), /##gang looks at .+ \d/);
  const lit = await page.$$eval(".token.to", (nodes) => nodes.filter((node) => node.style.background !== "").length);
  assert.ok(lit > 3, `${lit} tokens light up`);
  // Weights of a row sum to 1, up to 64 levels.
  const sum = await page.evaluate(() => window.heed.app.data.lines(0, 0, false, 3, false).reduce((a, { weight }) => a + weight, 0));
  assert.ok(Math.abs(sum - 1) < 0.05, `row sums to ${sum}`);
  await shot("hover");
  await page.mouse.move(640, 700);

  await key("ArrowRight"); await key("ArrowRight"); await key("ArrowDown");
  now = await state();
  assert.deepEqual([now.layer, now.head], [1, 2]);
  assert.equal(await text("#layer"), "layer 2 / 6");
  await page.click('[aria-label="next head"]');
  assert.equal((await state()).head, 3);
  await key("ArrowUp"); await key("ArrowUp");
  assert.equal((await state()).layer, 5);

  await key("n"); await key("n"); await key("r");
  assert.deepEqual((await state()).chosen, { unit: 1, toward: true });
  assert.match(await text("#status"), /the is looked at by/);
  await key("Escape");
  assert.equal((await state()).chosen, null);

  assert.equal((await page.$$(".token.from")).length, 30);
  await key("w");
  assert.equal((await state()).words, true);
  const words = await page.$$eval(".token.from", (nodes) => nodes.map((node) => node.textContent));
  assert.equal(words.length, 24);
  assert.equal(words[2], "foxgang");
  // Words: sums over columns, means over rows, so rows still sum to 1.
  const wordSum = await page.evaluate(() => window.heed.app.data.lines(2, 4, true, 2, false).reduce((a, { weight }) => a + weight, 0));
  assert.ok(Math.abs(wordSum - 1) < 0.05, `row of a word sums to ${wordSum}`);

  await key("2");
  await page.waitForFunction(() => window.heed.state.painted.model === 72);
  await shot("model");
  const cells = await page.$$(".cell");
  assert.equal(cells.length, 72);
  await cells[12 * 2 + 5].click();
  now = await state();
  assert.deepEqual([now.view, now.layer, now.head], ["map", 2, 5]);
  assert.ok(await colors(page) > 20);
  await page.mouse.move(640, 480);
  assert.ok((await state()).cell, "a cell under the mouse");
  await key("ArrowRight");
  assert.equal((await state()).head, 6);
  const before = (await state()).cell;
  await page.keyboard.down("Shift"); await key("ArrowDown"); await page.keyboard.up("Shift");
  assert.equal((await state()).cell.row, before.row + 1);
  assert.match(await text("#status"), /looks at .+ %/);
  await key("+"); await key("+");
  assert.ok(await page.evaluate(() => window.heed.app.view.map.scale > window.heed.app.view.map.least * 1.5));
  await shot("map_zoomed");
  await key("0");
  await shot("map");

  await key("4");
  assert.equal((await page.$$(".entropy")).length, 72);
  await shot("entropy");
  await key("5");
  assert.match(await text("#stage"), /completeness gap [+−]0\.0/);
  assert.match(await text("#stage"), /replaced by \[MASK\]/);
  await shot("evidence");
  await key("t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await shot("evidence_dark");
  await key("?");
  assert.equal(await page.$eval("#help", (dialog) => dialog.open), true);
  await shot("help");
  await key("?");
  assert.equal(await page.$eval("#help", (dialog) => dialog.open), false);
  await key("3");
  await shot("map_dark");
  await tab.close();
}

async function longText(browser, name, count, mostBytes) {
  assert.ok(fs.statSync(path.join(work, name)).size < mostBytes, `${name} is too large`);
  const tab = await open(browser, work, name, { hash: "#special=shown" });
  const { page, state, key, text, shot } = tab;
  assert.equal(await page.evaluate(() => window.heed.app.data.count), count);
  const rows = (await page.$$(".token.from")).length;
  assert.ok(rows > 20 && rows < 60, `${rows} rows are drawn`);
  await page.evaluate(() => { document.getElementById("stage").scrollTop = 1e9; });
  await page.waitForFunction((last) => document.querySelector(`.token.from[data-unit="${last}"]`), {}, count - 1);
  assert.ok((await state()).painted.head > 20, "lines between the tokens");
  await shot(`head_${count}`);
  await key("3");
  assert.ok(await colors(page) > 10);
  await shot(`map_${count}`);
  for (let i = 0; i < 12; ++i) await key("+");
  await shot(`map_${count}_zoomed`);
  await page.mouse.move(640, 480);
  assert.ok((await state()).cell);
  assert.match(await text("#status"), /looks at/);
  await key("2");
  await page.waitForFunction(() => window.heed.state.painted.model === window.heed.app.data.layers * window.heed.app.data.heads, { timeout: 120_000 });
  await shot(`model_${count}`);
  return tab;
}

// What a language model expected, token by token and layer by layer.
async function nextTokens(browser) {
  for (const width of [1280, 400]) {
    const tab = await open(browser, work, "next.html", { width });
    const { page, state, key, text, shot } = tab;
    await key("6");
    assert.equal((await state()).view, "next");
    assert.equal((await state()).painted.next, 10); // 3 tokens are given, the first follows nothing, 8 are written
    const shape = await page.$$eval(".next tbody tr", (rows) => rows.map((row) => [row.className.trim(), row.children.length]));
    assert.deepEqual(shape.map(([name]) => name), [...Array(2).fill(""), ...Array(8).fill("written")]);
    assert.ok(shape.every(([, cells]) => cells === 4 + 4)); // embeddings and three layers
    // Greedy: what was written is the likeliest, in the end by the last layer too.
    assert.equal((await page.$$(".written td:last-child .itself")).length, 8);
    await shot(`next_${width}`);
    await page.click('.next tr[data-place="5"] th');
    assert.deepEqual([(await state()).view, (await state()).chosen.unit], ["head", 4]);
    assert.match(await text("#status"), /looks at/);
    await tab.close();
  }
}

async function similarity(browser) {
  const tab = await open(browser, work, "similar.html");
  const { page, state, key, text, shot } = tab;
  const cosine = await page.evaluate(() => window.heed.app.data.cosine);
  assert.ok(Math.abs((await state()).total - cosine) < 1e-5);
  await page.mouse.move(640, 400);
  assert.match(await text("#status"), /and .+ add [+−]/);
  await shot("similar");
  await key("w");
  assert.ok(Math.abs((await state()).total - cosine) < 1e-5);
  await key("2");
  assert.match(await text("#stage"), /Shares sum to/);
  await shot("similar_texts");
  await tab.close();
  const cls = await open(browser, work, "similar_cls.html");
  assert.match(await cls.text("#stage"), /gap [+−]0\.0/);
  await cls.close();
}

(async () => {
  const browser = await puppeteer.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await shortText(browser);
    await (await longText(browser, "512.html", 512, 25e6)).close();
    const long = await longText(browser, "4096.html", 4096, 60e6);
    // The head that was asked for in full, and one that was not.
    assert.deepEqual(await long.page.evaluate(() => [[1, 2], [0, 0]].map(([layer, head]) => window.heed.app.data.cells(layer, head, false).rows)), [4096, 1366]);
    await long.close();
    await nextTokens(browser);
    await similarity(browser);
    await readers(browser, work);
  } finally {
    await browser.close();
  }
  console.log("the pages do what they should");
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
