// The page of `heed look`: which view is open, of which layer and head, and what is pointed at.
import { LookData } from "./data.js";
import { percent, visible, weightColor } from "./draw.js";
import { EvidenceView } from "./evidence_view.js";
import { EntropyView, ModelView } from "./grids.js";
import { HeadView } from "./head_view.js";
import { HeatMap } from "./heat_map.js";
import { help, listen, markTab, note, status, stepper, switchTheme, tabs, toggle } from "./shell.js";

const kLookViews = [["head", "Head"], ["model", "Model"], ["map", "Map"], ["entropy", "Entropy"], ["evidence", "Evidence"]];
const kLookKeys = [
  ["← →", "previous, next head"], ["↑ ↓", "previous, next layer"], ["1 2 3 4 5", "head, model, map, entropy, evidence"],
  ["n p", "next, previous token (map: Shift and arrows move the cursor)"], ["r", "who looks at the token, instead of where it looks"],
  ["+ - 0", "map: zoom in, out, all"], ["w", "words or tokens"], ["t", "dark or light"], ["Esc", "let go of the token"], ["?", "this"],
];

// Shows the map of one head in a HeatMap.
class MapView {
  constructor(app, stage) {
    this.app = app;
    this.map = new HeatMap(stage, (cell) => this.report(cell));
  }

  draw() {
    const { data, state } = this.app, cells = data.cells(state.layer, state.head, state.words);
    const units = data.units(state.words && data.block === 1);
    const text = (index) => units[Math.min(index * cells.block, units.length - 1)].text;
    this.cells = cells;
    this.map.show({ ...cells, color: (value) => weightColor(value / (cells.largest || 1)), rowText: text, columnText: text, range: { low: 0, high: cells.largest, labels: ["0", percent(cells.largest)] } });
    this.text = text;
    this.app.painted("map", this.map.tiles.size);
  }

  report(cell) {
    const { app, cells } = this;
    app.state.cell = cell;
    if (!cell) return app.say();
    const several = cells.block > 1 ? `, the largest of ${cells.block} × ${cells.block} tokens from here on` : "";
    status(`**${visible(this.text(cell.row))}** looks at **${visible(this.text(cell.column))}**: **${percent(cell.value)}**  (row ${cell.row * cells.block + 1}, column ${cell.column * cells.block + 1}${several})`);
  }
}

const kViewClasses = { head: HeadView, model: ModelView, map: MapView, entropy: EntropyView, evidence: EvidenceView };

export class LookApp {
  constructor(json) {
    this.data = new LookData(json);
    this.stage = document.getElementById("stage");
    this.state = { kind: "attention", view: "head", layer: 0, head: 0, words: false, pointed: null, chosen: null, cell: null, painted: {} };
    this.controls();
    note("**Attention is not explanation.** It shows where each head reads from, not why the model decided. What a decision rests on is tested by changing the input: see Evidence.");
    this.keys();
    this.go("head");
    new ResizeObserver(() => this.view.draw()).observe(this.stage);
  }

  controls() {
    const { data } = this;
    document.getElementById("subject").textContent = `${data.model} · ${data.count} tokens · ${data.layers} × ${data.heads} heads`;
    document.title = `heed look: ${data.tokens.slice(0, 12).join(" ")}`;
    tabs(kLookViews, (view) => this.go(view));
    this.words = toggle("words", "w", () => this.merge());
    document.getElementById("controls").replaceChildren(
      stepper("layer", (step) => this.step(step, 0)), stepper("head", (step) => this.step(0, step)), this.words,
      toggle("◐", "t", () => this.theme()), toggle("?", "?", () => help(kLookKeys)));
  }

  keys() {
    const map = (action) => () => { if (this.state.view === "map") action(this.view.map); };
    const move = (rows, columns) => map((view) => view.step(rows, columns));
    listen({
      ArrowLeft: () => this.step(0, -1), ArrowRight: () => this.step(0, 1), ArrowUp: () => this.step(-1, 0), ArrowDown: () => this.step(1, 0),
      "Shift+ArrowLeft": move(0, -1), "Shift+ArrowRight": move(0, 1), "Shift+ArrowUp": move(-1, 0), "Shift+ArrowDown": move(1, 0),
      "+": map((view) => view.zoom(1.4)), "=": map((view) => view.zoom(1.4)), "-": map((view) => view.zoom(1 / 1.4)), 0: map((view) => view.fit()),
      n: () => this.walk(1), p: () => this.walk(-1), r: () => this.turn(), w: () => this.merge(), t: () => this.theme(),
      "?": () => help(kLookKeys), Escape: () => this.choose(null),
      ...Object.fromEntries(kLookViews.map(([view], index) => [index + 1, () => this.go(view)])),
    });
  }

  go(view) {
    Object.assign(this.state, { view, cell: null, pointed: null });
    this.stage.onscroll = null;
    this.stage.scrollTop = 0;
    this.view = new kViewClasses[view](this, this.stage);
    markTab(view);
    this.draw();
  }

  draw() {
    const { data, state } = this;
    document.getElementById("layer").textContent = `layer ${state.layer + 1} / ${data.layers}`;
    document.getElementById("head").textContent = `head ${state.head + 1} / ${data.heads}`;
    this.words.setAttribute("aria-pressed", state.words);
    this.view.draw();
    this.say();
  }

  painted(view, count) { this.state.painted[view] = count; }

  step(layers, heads) {
    const turned = (value, count) => (value + count) % count;
    this.state.layer = turned(this.state.layer + layers, this.data.layers);
    this.state.head = turned(this.state.head + heads, this.data.heads);
    this.draw();
  }

  open(layer, head) {
    Object.assign(this.state, { layer, head });
    this.go("map");
  }

  merge() {
    Object.assign(this.state, { words: !this.state.words, chosen: null, pointed: null });
    this.draw();
  }

  theme() {
    switchTheme();
    this.go(this.state.view);
  }

  point(at) {
    const { pointed } = this.state;
    if (pointed?.unit === at?.unit && pointed?.toward === at?.toward) return;
    this.state.pointed = at;
    this.view.draw();
    this.say();
  }

  choose(at) {
    Object.assign(this.state, { chosen: at, pointed: null });
    this.draw();
  }

  walk(step) {
    const count = this.data.units(this.state.words).length, { chosen } = this.state;
    const unit = chosen ? Math.min(Math.max(chosen.unit + step, 0), count - 1) : 0;
    this.choose({ unit, toward: chosen?.toward ?? false });
    this.view.reveal?.(unit);
  }

  turn() {
    if (this.state.chosen) this.choose({ ...this.state.chosen, toward: !this.state.chosen.toward });
  }

  // The status line: what is pointed at, else what the view is about.
  say() {
    const { data, state } = this, at = state.pointed ?? state.chosen, units = data.units(state.words);
    if (state.view === "map" && state.cell) return undefined; // the map has said it
    const place = `layer ${state.layer + 1}, head ${state.head + 1}`;
    if (at && state.view === "head") {
      const lines = [...data.lines(state.layer, state.head, state.words, at.unit, at.toward)].sort((a, b) => b.weight - a.weight).slice(0, 5);
      const list = lines.map(({ key, weight }) => `${visible(units[key].text)} ${percent(weight)}`).join(", ");
      return status(`${place}: **${visible(units[at.unit].text)}** ${at.toward ? "is looked at by" : "looks at"} ${list || "nobody among the largest links"}`);
    }
    const coarse = state.view === "map" && data.block > 1 && !data.hasFull(state.layer, state.head)
      ? `  ·  each cell is the largest weight of ${data.block} × ${data.block} tokens; heed look --full ${state.layer + 1}.${state.head + 1} has this head in full` : "";
    status(`${place}: entropy **${data.entropy[state.layer][state.head].toFixed(2)} bits**${coarse}  ·  press **?** for keys`);
  }
}
