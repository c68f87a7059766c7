// Layers x heads at a glance: small maps of all heads, and how widely each looks.
import { element, percent, weightColor } from "./draw.js";

const kThumbnail = 72, kLeastThumbnail = 44, kNames = 100, kGap = 8;

// Cells fill the width of the stage between the least and the greatest size; where that is too little, the stage scrolls
// and the names of the layers stay in sight.
function grid(app, stage, makeCell) {
  const { layers, heads } = app.data;
  const width = Math.round(Math.min(kThumbnail, Math.max(kLeastThumbnail, (stage.clientWidth - kNames) / heads - kGap)));
  const node = element("div", { className: "grid", style: { gridTemplateColumns: `auto repeat(${heads}, ${width}px)` } });
  node.append(element("span"));
  for (let head = 0; head < heads; ++head) node.append(element("span", { className: "column", textContent: `head ${head + 1}` }));
  for (let layer = 0; layer < layers; ++layer) {
    node.append(element("span", { className: "name", textContent: `layer ${layer + 1}` }));
    for (let head = 0; head < heads; ++head) {
      const cell = makeCell(layer, head, width);
      cell.onclick = () => app.open(layer, head);
      node.append(cell);
    }
  }
  stage.replaceChildren(node);
  return [...node.querySelectorAll(".cell")];
}

function mark(app, cells) {
  cells.forEach((cell, index) => {
    cell.classList.toggle("chosen", index === app.state.layer * app.data.heads + app.state.head);
  });
}

function nameOf(layer, head) { return `layer ${layer + 1}, head ${head + 1}`; }

export class ModelView {
  constructor(app, stage) {
    this.app = app;
    const most = app.data.shownCells(0, 0, false, app.state.hidden, true).rows;
    this.cells = grid(app, stage, (layer, head, width) => {
      const side = Math.min(kThumbnail, most);
      const canvas = element("canvas", { width: side, height: side, style: { width: `${width}px`, height: `${width}px` } });
      return element("button", { className: "cell", title: nameOf(layer, head), "aria-label": nameOf(layer, head) }, canvas);
    });
    this.next = 0;
    this.done = false;
    this.work();
  }

  // A few milliseconds a frame, so that the page stays awake.
  work() {
    const until = performance.now() + 12;
    while (this.next < this.cells.length && performance.now() < until) {
      this.paint(this.cells[this.next].firstChild, Math.floor(this.next / this.app.data.heads), this.next % this.app.data.heads);
      ++this.next;
    }
    this.app.painted("model", this.next);
    if (this.next < this.cells.length && this.cells[0].isConnected) requestAnimationFrame(() => this.work());
  }

  // Each pixel is the largest weight of what it covers.
  paint(canvas, layer, head) {
    const cells = this.app.data.shownCells(layer, head, false, this.app.state.hidden, true), side = canvas.width;
    const largest = new Float32Array(side * side);
    for (let i = 0; i < cells.rows; ++i) {
      const row = Math.floor((i * side) / cells.rows) * side;
      for (let j = 0; j < cells.columns; ++j) {
        const at = row + Math.floor((j * side) / cells.columns), value = cells.value(i, j);
        if (value > largest[at]) largest[at] = value;
      }
    }
    const context = canvas.getContext("2d"), image = context.createImageData(side, side);
    largest.forEach((value, at) => {
      const [r, g, b] = weightColor(value / (cells.largest || 1));
      image.data.set([r, g, b, 255], at * 4);
    });
    context.putImageData(image, 0, 0);
  }

  draw() { mark(this.app, this.cells); }
}

export class EntropyView {
  constructor(app, stage) {
    this.app = app;
    const { data } = app, most = Math.log2(data.keys) || 1;
    this.cells = grid(app, stage, (layer, head) => {
      const bits = data.entropy[layer][head], share = Math.min(1, bits / most);
      return element("button", {
        className: "cell entropy",
        "aria-label": `${nameOf(layer, head)}: ${bits.toFixed(2)} bits`,
        title: `${nameOf(layer, head)}: ${bits.toFixed(2)} bits of at most ${most.toFixed(2)}, as if it looked at ${(2 ** bits).toFixed(1)} tokens alike (${percent(share)})`,
      }, element("i", { style: { height: `${100 * share}%` } }), element("span", { textContent: bits.toFixed(2) }));
    });
    app.painted("entropy", this.cells.length);
  }

  draw() { mark(this.app, this.cells); }
}
