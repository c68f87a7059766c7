// The pictures of the documentation; see pictures.sh.
// usage: pictures.js <browser> <folder of the pages> <folder for the pictures>
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const puppeteer = require("puppeteer-core");
const { open } = require("./tab.js");

const kMostBytes = 150_000;
const kPictures = [
  { name: "look", page: "look.html", width: 960, height: 580 },
  { name: "look_1400", page: "look.html", width: 1400, height: 560 },
  { name: "look_400", page: "look.html", width: 400, height: 700 },
  { name: "look_evidence", page: "evidence.html", hash: "#view=evidence&words=merged", width: 1000, height: 640 },
  { name: "tutorial_head", page: "cat.html", width: 960, height: 440 },
  { name: "tutorial_model", page: "cat.html", hash: "#view=model", width: 1100, height: 760 },
  { name: "tutorial_evidence", page: "why.html", hash: "#view=evidence&words=merged", width: 1000, height: 700 },
];

const [browserPath, pages, pictures] = process.argv.slice(2);
(async () => {
  const browser = await puppeteer.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    for (const { name, page, ...how } of kPictures) {
      const tab = await open(browser, pages, page, how);
      await tab.page.waitForFunction(() => {
        const { state, data } = window.heed.app;
        return state.view !== "model" || state.painted.model === data.layers * data.heads;
      });
      await tab.shot(name);
      await tab.close();
      const made = path.join(pages, `${name}.png`), { size } = fs.statSync(made);
      assert.ok(size < kMostBytes, `${name}.png has ${size} bytes`);
      fs.copyFileSync(made, path.join(pictures, `${name}.png`));
      console.log(`${name}.png: ${size} bytes`);
    }
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
