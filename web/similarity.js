// The page of `heed why-similar`: a cosine taken apart.
import { Address } from "./address.js";
import { element, signed, signedColor, visible } from "./draw.js";
import { balance, passage, section, table } from "./evidence_view.js";
import { HeatMap } from "./heat_map.js";
import { savePicture } from "./picture.js";
import { cutNote, help, lead, listen, markTab, note, savers, status, switchTheme, tabs, toggle } from "./shell.js";

const kSimilarityKeys = [["1 2", "words or pairs"], ["w", "words or tokens"], ["+ - 0", "zoom the pairs"], ["t", "dark or light"], ["?", "this"]];

export class SimilarityApp {
  constructor(json) {
    this.data = json;
    this.state = { kind: "similarity", view: json.matrix ? "pairs" : "texts", words: true, cell: null, total: 0, painted: {} };
    this.stage = document.getElementById("stage");
    document.getElementById("subject").textContent = `${json.model} · cosine ${json.cosine.toFixed(4)}`;
    document.title = `heed why-similar: ${json.cosine.toFixed(4)}`;
    const views = json.matrix ? [["pairs", "Pairs"], ["texts", "Texts"]] : [["texts", "Texts"]];
    tabs(views, (view) => this.go(view));
    this.wordsToggle = toggle("words", "w", () => this.merge());
    document.getElementById("controls").replaceChildren(this.wordsToggle, ...savers((kind) => this.save(kind)), toggle("◐", "t", () => this.theme()), toggle("?", "?", () => help(kSimilarityKeys)));
    const cuts = json.texts.flatMap(({ cut, tokens }, i) => (cut ? [cutNote(i === 0 ? "The first text" : "The second text", tokens.length)] : []));
    note([json.matrix
      ? "Every pair of tokens adds its share to the cosine, and **the shares sum to it exactly**. The vectors of tokens already hold what they read from the whole text: a share is not a word's meaning by itself."
      : "This model's vector is not a mean of its tokens, so no exact shares exist. **Integrated gradients** share out the change of the cosine; the gap says how far they miss it.", ...cuts].join(" "));
    const zoom = (action) => () => { if (this.map) action(this.map); };
    const arrow = (rows, columns) => () => (this.map ? this.map.step(rows, columns) : this.stage.scrollBy(0, 60 * rows));
    listen({
      w: () => this.merge(), t: () => this.theme(), "?": () => help(kSimilarityKeys),
      "+": zoom((map) => map.zoom(1.4)), "=": zoom((map) => map.zoom(1.4)), "-": zoom((map) => map.zoom(1 / 1.4)), 0: zoom((map) => map.fit()),
      ArrowLeft: arrow(0, -1), ArrowRight: arrow(0, 1), ArrowUp: arrow(-1, 0), ArrowDown: arrow(1, 0),
      ...Object.fromEntries(views.map(([view], index) => [index + 1, () => this.go(view)])),
    });
    this.address = new Address({
      view: { get: () => this.state.view, set: (text) => { if (views.some(([view]) => view === text)) this.state.view = text; } },
      words: { get: () => (this.state.words ? null : "split"), set: (text) => { this.state.words = text !== "split"; } },
    }, () => this.go(this.state.view));
    this.go(this.state.view);
    new ResizeObserver(() => this.map?.draw()).observe(this.stage);
  }

  save(kind) {
    savePicture(kind, this.stage, this, `heed_similar_${this.state.view}`, `heed why-similar: ${this.data.model}  ·  cosine ${this.data.cosine.toFixed(4)}`);
  }

  merge() {
    this.state.words = !this.state.words;
    this.go(this.state.view);
  }

  theme() {
    switchTheme();
    this.go(this.state.view);
  }

  units(side) {
    const { tokens, words, special } = this.data.texts[side];
    return this.state.words ? words.map(([first, count, text]) => ({ text, first, count, special: special[first] === 1 }))
      : tokens.map((text, first) => ({ text, first, count: 1, special: special[first] === 1 }));
  }

  // The matrix over the units of both sides.
  matrix() {
    const rows = this.units(0), columns = this.units(1), width = this.data.texts[1].tokens.length;
    const values = new Float64Array(rows.length * columns.length);
    rows.forEach((row, i) => columns.forEach((column, j) => {
      let sum = 0;
      for (let a = row.first; a < row.first + row.count; ++a) {
        for (let b = column.first; b < column.first + column.count; ++b) sum += this.data.matrix[a * width + b];
      }
      values[i * columns.length + j] = sum;
    }));
    return { rows, columns, values };
  }

  sums(side) { return this.units(side).map(({ first, count }) => this.data.texts[side].sums.slice(first, first + count).reduce((a, b) => a + b, 0)); }

  go(view) {
    this.state.view = view;
    this.map = null;
    this.stage.scrollTop = 0;
    markTab(view);
    lead(view === "pairs"
      ? "The row is a word of the first text, the column one of the second, and the colour what the two together add to the cosine: blue raises it, red lowers it."
      : "Colours and bars say what each word adds to the cosine: blue raises it, red lowers it.");
    this.address.write();
    this.wordsToggle.setAttribute("aria-pressed", this.state.words);
    if (view === "pairs") this.drawPairs();
    else this.drawTexts();
    status(`cosine **${this.data.cosine.toFixed(4)}**  ·  press **?** for keys`);
  }

  drawPairs() {
    const { rows, columns, values } = this.matrix(), largest = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
    this.state.total = values.reduce((a, b) => a + b, 0);
    this.map = new HeatMap(this.stage, (cell) => {
      this.state.cell = cell;
      if (!cell) return;
      status(`**${visible(rows[cell.row].text)}** and **${visible(columns[cell.column].text)}** add **${signed(cell.value, 4)}** of ${this.data.cosine.toFixed(4)}`);
    });
    this.map.show({
      rows: rows.length, columns: columns.length, block: 1, value: (i, j) => values[i * columns.length + j],
      color: (value) => signedColor(value / largest), rowText: (i) => rows[i].text, columnText: (j) => columns[j].text,
      range: { low: -largest, high: largest, labels: [signed(-largest), "0", signed(largest)] },
    });
    this.state.painted.pairs = this.map.tiles.size;
  }

  drawTexts() {
    const parts = [0, 1].map((side) => {
      const units = this.units(side), sums = this.sums(side), total = sums.reduce((a, b) => a + b, 0), { gradients } = this.data.texts[side];
      const largest = sums.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
      this.state.total = total;
      const text = gradients
        ? `Shares sum to ${signed(total, 4)}; the cosine changes by ${signed(gradients.score - gradients.baselineScore, 4)} from the baseline; gap ${signed(gradients.gap, 4)}.`
        : `Shares sum to ${total.toFixed(4)}, the cosine.`;
      const origin = sums.some((sum) => sum < 0) ? 50 : 0;
      const order = units.map((_, index) => index).sort((a, b) => Math.abs(sums[b]) - Math.abs(sums[a])).slice(0, 40);
      return element("div", {}, ...section(side ? "Second text" : "First text", text,
        passage(units, sums, signedColor, (unit, value) => `${unit.text}  ${signed(value, 4)}`),
        table(["", "share", ""], order.map((index) => [visible(units[index].text), signed(sums[index], 4), balance(sums[index], largest, origin)]))));
    });
    this.stage.replaceChildren(element("div", { className: "sheet" }, element("div", { className: "halves" }, ...parts)));
    this.state.painted.texts = 2;
  }
}
