// A page in a browser without a network: its state, keys, texts and screenshots. See pages_test.js.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const kOpenSeconds = 20; // on a busy machine; the figure itself is printed

// `work` is the folder of the page and of the screenshots; hash a part of the address, "#..." or "".
async function open(browser, work, name, { hash = "", width = 1280, height = 800 } = {}) {
  const page = await browser.newPage();
  const url = `file://${path.join(work, name)}`;
  const strangers = [], errors = [];
  await page.setOfflineMode(true);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (request.url().split("#")[0] === url) return request.continue();
    strangers.push(request.url());
    return request.abort();
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  await page.setViewport({ width, height });
  const start = Date.now();
  await page.goto(url + hash, { waitUntil: "load", timeout: 120_000 });
  await page.waitForFunction(() => window.heed?.ready, { timeout: 120_000 });
  const seconds = (Date.now() - start) / 1000;
  console.log(`${name}: ${(fs.statSync(path.join(work, name)).size / 1e6).toFixed(1)} MB, open after ${seconds.toFixed(2)} s`);
  assert.ok(seconds < kOpenSeconds, `${name} took ${seconds} s to open`);
  return {
    page, seconds,
    state: () => page.evaluate(() => JSON.parse(JSON.stringify(window.heed.state))),
    key: (key) => page.keyboard.press(key),
    text: (selector) => page.$eval(selector, (node) => node.textContent),
    shot: (title) => page.screenshot({ path: path.join(work, `${title}.png`) }),
    async close() {
      assert.deepEqual(strangers, [], `${name} asked for more than itself`);
      assert.deepEqual(errors, [], `${name} had errors`);
      await page.close();
    },
  };
}

// How many colours the largest canvas of the stage shows: one means nothing is drawn.
const colors = (page) => page.evaluate(() => {
  const canvas = document.querySelector("#stage canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4 * 97) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
});

module.exports = { open, colors };
