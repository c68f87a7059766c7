// What a reader is promised: a page that opens on a head worth seeing, says what each view shows, hides special tokens,
// gives its pictures away, has its state in the address, fits a phone, and has evidence for every label.
// All checks run, also after one has failed.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { open } = require("./tab.js");

const kViews = ["head", "model", "map", "entropy", "evidence"];
const kSpecial = /\[CLS\]|\[SEP\]/;
const kPieces = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
const view = (tab, name) => tab.key(String(kViews.indexOf(name) + 1));
const rowTexts = (tab) => tab.page.$$eval(".token.from", (nodes) => nodes.map((node) => node.textContent));

// Links of a head, packed as explain/packed.h says: each token looks at key(token) with the given weight.
function packedLinks(count, links, weight, key) {
  const digits = (value, places) => Array.from({ length: places }, (_, i) => kPieces[Math.floor(value / 64 ** (places - 1 - i)) % 64]).join("");
  const nothing = digits(0, 5).repeat(links - 1);
  return Array.from({ length: count }, (_, row) => digits(key(row), 3) + digits(Math.round(4095 * Math.sqrt(weight)), 2) + nothing).join("");
}

// Nothing but the stage may be larger than the window, and that has a good part of it.
async function fits(tab, name, width, height) {
  await tab.shot(`${name}_${width}`);
  const found = await tab.page.evaluate(() => {
    const out = [...document.querySelectorAll("#bar button, #note, #lead, #status")].filter((node) => {
      const box = node.getBoundingClientRect();
      return node.checkVisibility() && (box.left < 0 || box.right > window.innerWidth || box.top < 0 || box.bottom > window.innerHeight);
    });
    const { fontSize } = getComputedStyle(document.getElementById("lead"));
    const stage = document.getElementById("stage"), [canvas] = stage.querySelectorAll(".map");
    const map = canvas && (window.heed.app.map ?? window.heed.app.view.map);
    const legend = map ? map.legendX + 16 + Math.max(...["100.0 %", ...map.source.range.labels].map((text) => canvas.getContext("2d").measureText(text).width)) : 0;
    return { legend, wide: document.documentElement.scrollWidth, out: out.map((node) => node.id || node.textContent), fontSize, high: stage.clientHeight, map: !canvas || canvas.clientWidth <= stage.clientWidth };
  });
  assert.ok(found.wide <= width, `${name} is ${found.wide} pixels wide of ${width}`);
  assert.deepEqual(found.out, [], `${name}: out of sight at ${width}`);
  assert.ok(parseFloat(found.fontSize) >= 12 && found.map);
  assert.ok(found.legend <= width, `${name}: the legend reaches to ${found.legend} of ${width}`);
  assert.ok(found.high >= 0.45 * height, `${name}: the stage has ${found.high} of ${height} pixels`);
}

const checks = {
  // Four heads that look at one token, at themselves, at the token before, at [CLS]; only one has links of its own.
  async "opens on a head worth seeing"(browser, work) {
    let html = fs.readFileSync(path.join(work, "short.html"), "utf8");
    const set = (layer, head, weight, key) => {
      html = html.replace(new RegExp(`(id="links-${layer}-${head}">)[^<]*`), `$1${packedLinks(30, 8, weight, key)}`);
    };
    set(0, 1, 1, () => 0);
    set(1, 2, 1, (row) => row);
    set(2, 3, 1, (row) => Math.max(0, row - 1));
    set(4, 4, 1, () => 14);
    set(3, 5, 0.6, (row) => (row + 11) % 30);
    fs.writeFileSync(path.join(work, "opening.html"), html);
    const tab = await open(browser, work, "opening.html");
    const { layer, head } = await tab.state();
    assert.deepEqual([layer, head], [3, 5]);
    assert.match(await tab.text("#lead"), /This head is shown first/);
    await tab.key("ArrowRight");
    assert.doesNotMatch(await tab.text("#lead"), /This head is shown first/);
    await tab.close();
  },

  // Of each text the name of the page, the head and what "it" looks at most: no head where all look at one token.
  async "opens on a head worth seeing in a real model"(browser, work) {
    for (const [name, layer, head] of [["real_mat.html", 4, 2], ["real_run.html", 4, 2]]) {
      if (!fs.existsSync(path.join(work, name))) continue; // pages_test.sh has said so
      const tab = await open(browser, work, name);
      const found = await tab.page.evaluate(() => {
        const { data, state: { layer, head } } = window.heed.app;
        const words = [...data.tokens.keys()].filter((token) => !data.special[token]), it = data.tokens.indexOf("it");
        const { value } = data.cells(layer, head, false);
        const best = words.reduce((a, b) => (value(it, a) >= value(it, b) ? a : b));
        const shares = words.map((key) => words.reduce((sum, row) => sum + value(row, key), 0) / words.length);
        return { head: [layer + 1, head + 1], it: data.tokens[best], column: Math.max(...shares) };
      });
      assert.deepEqual(found.head, [layer, head], name);
      assert.equal(found.it, "cat", name);
      assert.ok(found.column < 0.3, `${name}: all tokens look at one, by ${found.column} in the mean`);
      await tab.close();
    }
  },

  async "says what each view shows"(browser, work) {
    const tab = await open(browser, work, "short.html", { hash: "#layer=1&head=1" });
    const seen = new Set();
    for (const name of kViews) {
      await view(tab, name);
      seen.add(await tab.text("#lead"));
    }
    assert.equal(seen.size, kViews.length);
    for (const text of seen) assert.match(text, /^[A-Z].{60,}\.$/);
    await tab.close();
  },

  async "hides special tokens everywhere, and renormalises nothing"(browser, work) {
    const tab = await open(browser, work, "short.html", { hash: "#layer=1&head=1" });
    const { page } = tab;
    assert.equal((await tab.state()).hidden, true);
    await tab.key("s");
    assert.ok((await rowTexts(tab)).some((text) => kSpecial.test(text)));
    assert.doesNotMatch(await tab.text("#lead"), /Special tokens are hidden/);
    const weight = () => page.evaluate(() => window.heed.app.data.lines(0, 0, false, 3, false).find(({ key }) => key === 5).weight);
    const before = await weight();
    await tab.key("s");
    assert.equal((await tab.state()).hidden, true);
    assert.equal((await rowTexts(tab)).length, 28);
    assert.ok(!(await rowTexts(tab)).some((text) => kSpecial.test(text)));
    assert.equal(await weight(), before);
    assert.match(await tab.text("#lead"), /weights are shown as they are/);
    await page.hover('.token.from[data-unit="3"]');
    assert.doesNotMatch(await tab.text("#status"), kSpecial);
    await tab.key("n");
    assert.equal((await tab.state()).chosen.unit, 1); // not [CLS]
    await tab.key("w");
    assert.equal((await rowTexts(tab)).length, 22);
    await tab.key("w");
    await view(tab, "map");
    assert.deepEqual(await page.evaluate(() => { const { source } = window.heed.app.view.map; return [source.rows, source.columns, source.rowText(0)]; }), [28, 28, "the"]);
    // The cell of the first two tokens that are left is that of the second and third of all.
    assert.ok(await page.evaluate(() => window.heed.app.view.map.source.value(0, 1) === window.heed.app.data.cells(0, 0, false).value(1, 2)));
    await view(tab, "model");
    await page.waitForFunction(() => window.heed.state.painted.model === 72);
    assert.equal(await page.$eval(".cell canvas", (canvas) => canvas.width), 28);
    await view(tab, "evidence");
    assert.ok(!(await page.$$eval(".passage span", (nodes) => nodes.map((node) => node.textContent))).some((text) => kSpecial.test(text)));
    await tab.close();
    // Where a cell is a block of tokens, the blocks with a special token go.
    const long = await open(browser, work, "4096.html", { hash: "#view=map&layer=1&head=1" });
    assert.equal(await long.page.evaluate(() => window.heed.app.view.map.source.rows), 1364);
    assert.match(await long.text("#status"), /blocks of tokens/);
    await long.close();
  },

  async "gives pictures of every view as PNG and SVG"(browser, work) {
    const folder = path.join(work, "pictures");
    fs.rmSync(folder, { recursive: true, force: true });
    const tab = await open(browser, work, "short.html", { hash: "#layer=2&head=3" });
    const session = await tab.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
    const wanted = [];
    for (const name of kViews) {
      await view(tab, name);
      if (name === "model") await tab.page.waitForFunction(() => window.heed.state.painted.model === 72);
      for (const kind of ["png", "svg"]) {
        await tab.page.click(`#save-${kind}`);
        wanted.push(`heed_${name}_2.3.${kind}`.replace(/(model|entropy|evidence)_2\.3/, "$1"));
        const file = path.join(folder, wanted.at(-1));
        for (let i = 0; i < 400 && !fs.existsSync(file); ++i) await pause(50);
        assert.ok(fs.existsSync(file), `${wanted.at(-1)} is not among ${fs.existsSync(folder) ? fs.readdirSync(folder) : "nothing"}`);
        const bytes = fs.readFileSync(file);
        if (kind === "png") {
          assert.equal(bytes.subarray(1, 4).toString(), "PNG");
          assert.ok(bytes.length > 5000, `${file} has ${bytes.length} bytes`);
        } else {
          assert.match(bytes.toString(), /^<svg xmlns/);
          assert.doesNotMatch(bytes.toString(), /NaN|undefined|foreignObject|hsla|rgba/);
          const drawn = await tab.page.evaluate((text) => {
            const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
            return { name: root.tagName, texts: [...root.querySelectorAll("text")].map((node) => node.textContent).join(" "), paths: root.querySelectorAll("path").length };
          }, bytes.toString());
          assert.equal(drawn.name, "svg"); // not a parser's error
          assert.match(drawn.texts, { model: /layer/, entropy: /bits|layer/ }[name] ?? /foxgang|gang/);
          if (name === "head") assert.ok(drawn.paths > 50, `${drawn.paths} lines`);
        }
      }
    }
    await tab.close();
  },

  async "has its state in the address"(browser, work) {
    const tab = await open(browser, work, "short.html");
    const { page } = tab;
    await page.evaluate(() => window.heed.app.open(2, 5));
    await tab.key("s"); await tab.key("w"); await view(tab, "head"); await tab.key("n"); await tab.key("n"); await tab.key("r");
    const told = ({ view: name, layer, head, words, hidden, chosen, label }) => ({ name, layer, head, words, hidden, chosen, label });
    await page.evaluate(() => window.heed.app.explain(window.heed.app.data.evidence.labels[1].label));
    const before = told(await tab.state());
    assert.deepEqual([before.hidden, before.chosen], [false, { unit: 1, toward: true }]);
    await pause(500);
    await page.reload({ waitUntil: "load" });
    await page.waitForFunction(() => window.heed?.ready);
    assert.deepEqual(told(await tab.state()), before);
    const hash = await page.evaluate(() => window.location.hash);
    assert.match(hash, /view=head&layer=3&head=6/);
    await page.evaluate(() => { window.location.hash = "view=map&layer=99&head=-3&token=1e9&label=%3Cb%3E&words=no"; });
    await page.waitForFunction(() => window.heed.state.view === "map");
    const mended = await tab.state();
    assert.ok(mended.layer < 6 && mended.head < 12 && mended.chosen === null);
    await tab.close();
    const copy = await open(browser, work, "short.html", { hash });
    assert.deepEqual(told(await copy.state()), before);
    await copy.close();
    const pairs = await open(browser, work, "similar.html", { hash: "#view=texts" });
    assert.equal((await pairs.state()).view, "texts");
    await pairs.close();
  },

  async "fits 400 pixels; screenshots at both widths"(browser, work) {
    for (const [width, height] of [[400, 800], [1400, 900]]) {
      const tab = await open(browser, work, "short.html", { hash: "#layer=1&head=1", width, height });
      for (const name of kViews) {
        await view(tab, name);
        if (name === "model") await tab.page.waitForFunction(() => window.heed.state.painted.model === 72);
        await fits(tab, name, width, height);
      }
      await view(tab, "evidence");
      const wide = await tab.page.$eval("#stage", (stage) => stage.scrollWidth - stage.clientWidth);
      assert.ok(wide <= 0, `evidence scrolls sideways by ${wide} at ${width}`);
      await tab.close();
      for (const [page, views] of [["similar.html", ["pairs", "texts"]], ["similar_cls.html", ["texts"]]]) {
        const similar = await open(browser, work, page, { width, height });
        for (const [index, name] of views.entries()) {
          await similar.key(String(index + 1));
          assert.equal((await similar.state()).view, name);
          await fits(similar, `${path.parse(page).name}_${name}`, width, height);
        }
        await similar.close();
      }
    }
  },

  async "has evidence for every label on one scale"(browser, work) {
    const tab = await open(browser, work, "short.html", { hash: "#view=evidence" });
    const { page } = tab;
    const { labels, label, others } = await page.evaluate(() => window.heed.app.data.evidence);
    assert.equal(labels.length, 7);
    assert.equal(label, labels[0].label);
    assert.deepEqual(others.map((other) => other.label), labels.slice(1, 5).map((other) => other.label));
    assert.match(await tab.text("#stage"), /the 5 best of 7 labels/);
    const rows = await page.$eval("tbody", (body) => [...body.rows].map((row) => [row.cells[0].textContent, row.cells[1].textContent]));
    assert.deepEqual(rows.map(([name]) => name), [...labels.slice(0, 5).map((other) => other.label), "2 others, each at most"]);
    assert.equal(rows[5][1], labels[5].score.toFixed(3));
    for (const method of ["gradients", "occlusion"]) {
      assert.deepEqual(await page.$$eval(`[data-method="${method}"] [data-label]`, (nodes) => nodes.map((node) => node.dataset.label)), labels.slice(0, 5).map((other) => other.label));
      // Equal numbers have equal colours, whatever the label: colour is a function of value alone, and grows with it.
      const cells = await page.$$eval(`[data-method="${method}"] .passage span:not(.special)`, (nodes) => nodes.map((node) => [Number(node.dataset.value), node.style.background]));
      const blue = ([, color]) => { const [r, , b] = color.match(/\d+/g).map(Number); return b - r; };
      cells.sort((a, b) => a[0] - b[0]);
      for (let i = 1; i < cells.length; ++i) assert.ok(blue(cells[i]) >= blue(cells[i - 1]) - 2, `${cells[i - 1]} before ${cells[i]}`);
    }
    await page.click(`[data-method="gradients"] button[data-choose="${labels[3].label}"]`);
    assert.equal((await tab.state()).label, labels[3].label);
    assert.match(await tab.text("#stage"), new RegExp(`Side by side for .${labels[3].label}`));
    await tab.close();
  },

  async "keys stay with the dialog and scroll the evidence"(browser, work) {
    const tab = await open(browser, work, "short.html", { hash: "#view=evidence&layer=1&head=1" });
    await tab.key("ArrowDown");
    assert.equal((await tab.state()).layer, 0);
    await tab.page.waitForFunction(() => document.getElementById("stage").scrollTop > 0);
    await tab.key("?");
    await tab.key("3");
    assert.equal((await tab.state()).view, "evidence");
    await tab.key("Escape");
    assert.equal(await tab.page.$eval("#help", (dialog) => dialog.open), false);
    await tab.close();
  },
};

module.exports = async (browser, work) => {
  const failed = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(browser, work);
      console.log(`ok: ${name}`);
    } catch (error) {
      failed.push(name);
      console.error(`FAILED: ${name}: ${error.message}`);
    }
  }
  assert.deepEqual(failed, []);
};
