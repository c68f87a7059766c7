// The page of `heed look`: which view is open, of which layer and head, and what is pointed at.
import { Address, indexNamed } from "./address.js";
import { LookData } from "./data.js";
import { percent, visible } from "./draw.js";
import { EvidenceView } from "./evidence_view.js";
import { EntropyView, ModelView } from "./grids.js";
import { HeadView } from "./head_view.js";
import { kHidden, kLeads, kMemory, kOpeningRule } from "./leads.js";
import { MapView } from "./map_view.js";
import { NextView } from "./next_view.js";
import { savePicture } from "./picture.js";
import { cutNote, help, lead, listen, markTab, note, savers, status, stepper, switchTheme, tabs, toggle } from "./shell.js";

const kLookViews = [["head", "Head"], ["model", "Model"], ["map", "Map"], ["entropy", "Entropy"], ["evidence", "Evidence"], ["next", "Next"]];
const kLookKeys = [
  ["← →", "previous, next head"], ["↑ ↓", "previous, next layer"], ["1 2 3 4 5 6", "head, model, map, entropy, evidence, next token (of language models)"],
  ["n p", "next, previous token (map: Shift and arrows move the cursor)"], ["r", "who looks at the token, instead of where it looks"],
  ["+ - 0", "map: zoom in, out, all"], ["w", "words or tokens"], ["s", "show or hide special tokens such as [CLS]"], ["t", "dark or light"], ["Esc", "let go of the token"], ["?", "this"],
];

const kViewClasses = { head: HeadView, model: ModelView, map: MapView, entropy: EntropyView, evidence: EvidenceView, next: NextView };
const kSheets = ["evidence", "next"]; // which scroll, and are about no single head

export class LookApp {
  constructor(json) {
    this.data = new LookData(json);
    this.views = kLookViews.filter(([view]) => view !== "next" || this.data.expected);
    this.stage = document.getElementById("stage");
    const { layer, head } = this.first = this.data.headWorthSeeing();
    this.state = { kind: "attention", view: "head", layer, head, words: false, hidden: this.data.canHide, pointed: null, chosen: null, cell: null, label: this.data.explained[0]?.label ?? null, painted: {} };
    this.controls();
    note("**Attention is not explanation.** It shows where heads read from, not why the model decided: for that see Evidence." + (this.data.cut ? ` ${cutNote("The text", this.data.count)}` : ""));
    this.keys();
    this.address = new Address(this.fields(), () => this.go(this.state.view));
    this.go(this.state.view);
    new ResizeObserver(() => this.resized()).observe(this.stage);
  }

  // What the address has of the state. Tokens come after words and special, which say what is counted.
  fields() {
    const { data, state } = this;
    const index = (name, count) => ({ get: () => String(state[name] + 1), set: (text) => { state[name] = indexNamed(text, count) ?? state[name]; } });
    return {
      view: { get: () => state.view, set: (text) => { if (this.views.some(([view]) => view === text)) state.view = text; } },
      layer: index("layer", data.layers),
      head: index("head", data.heads),
      words: { get: () => (state.words ? "merged" : null), set: (text) => { state.words = text === "merged"; } },
      special: { get: () => (state.hidden === data.canHide ? null : "shown"), set: (text) => { state.hidden = data.canHide && text !== "shown"; } },
      token: {
        get: () => (state.chosen ? String(state.chosen.unit + 1) : null),
        set: (text) => {
          const unit = indexNamed(text, data.units(state.words).length);
          state.chosen = unit !== undefined && data.shown(state.words, state.hidden).place[unit] >= 0 ? { unit, toward: false } : null;
        },
      },
      by: { get: () => (state.chosen?.toward ? "others" : null), set: (text) => { if (state.chosen) state.chosen.toward = text === "others"; } },
      label: {
        get: () => (state.label === data.explained[0]?.label ? null : state.label),
        set: (text) => { if (data.explained.some(({ label }) => label === text)) state.label = text; },
      },
    };
  }

  controls() {
    const { data } = this;
    document.getElementById("subject").textContent = `${data.model} · ${data.count} tokens`;
    document.title = `heed look: ${data.tokens.slice(0, 12).join(" ")}`;
    tabs(this.views, (view) => this.go(view));
    this.words = toggle("words", "w", () => this.merge());
    this.special = toggle(`hide ${visible(data.tokens[data.special.indexOf(1)] ?? "[CLS]").slice(0, 8)} …`, "s", () => this.hide());
    this.special.title = "hide special tokens, key s";
    this.special.disabled = !data.canHide;
    this.steppers = [stepper("layer", (step) => this.step(step, 0)), stepper("head", (step) => this.step(0, step))];
    document.getElementById("controls").replaceChildren(
      ...this.steppers, this.words, this.special, ...savers((kind) => this.save(kind)),
      toggle("◐", "t", () => this.theme()), toggle("?", "?", () => help(kLookKeys)));
  }

  keys() {
    const map = (action) => () => { if (this.state.view === "map") action(this.view.map); };
    const move = (rows, columns) => map((view) => view.step(rows, columns));
    const arrow = (layers, heads) => () => (kSheets.includes(this.state.view) ? this.stage.scrollBy(0, 60 * layers) : this.step(layers, heads));
    listen({
      ArrowLeft: arrow(0, -1), ArrowRight: arrow(0, 1), ArrowUp: arrow(-1, 0), ArrowDown: arrow(1, 0),
      "Shift+ArrowLeft": move(0, -1), "Shift+ArrowRight": move(0, 1), "Shift+ArrowUp": move(-1, 0), "Shift+ArrowDown": move(1, 0),
      "+": map((view) => view.zoom(1.4)), "=": map((view) => view.zoom(1.4)), "-": map((view) => view.zoom(1 / 1.4)), 0: map((view) => view.fit()),
      n: () => this.walk(1), p: () => this.walk(-1), r: () => this.turn(), w: () => this.merge(), s: () => this.hide(), t: () => this.theme(),
      "?": () => help(kLookKeys), Escape: () => this.choose(null),
      ...Object.fromEntries(this.views.map(([view], index) => [index + 1, () => this.go(view)])),
    });
  }

  go(view) {
    Object.assign(this.state, { view, cell: null, pointed: null });
    this.stage.onscroll = null;
    this.stage.scrollTop = this.stage.scrollLeft = 0;
    for (const node of this.steppers) node.hidden = kSheets.includes(view);
    this.tell();
    this.view = new kViewClasses[view](this, this.stage);
    markTab(view);
    this.draw();
  }

  draw() {
    const { data, state } = this;
    document.getElementById("layer").textContent = `layer ${state.layer + 1} / ${data.layers}`;
    document.getElementById("head").textContent = `head ${state.head + 1} / ${data.heads}`;
    this.words.setAttribute("aria-pressed", state.words);
    this.special.setAttribute("aria-pressed", state.hidden);
    this.tell();
    this.view.draw();
    this.say();
    this.address.write();
  }

  // The sentences that say how the view is read.
  tell() {
    const { data, state } = this, name = state.view === "evidence" && !data.evidence ? "noEvidence" : state.view;
    const first = state.view === "head" && state.layer === this.first.layer && state.head === this.first.head && this.first.score > 0;
    const hidden = state.hidden ? kHidden[state.view] ?? kHidden.head : "";
    lead([kLeads[name].replace("MOST", Math.log2(data.keys).toFixed(2)).replace("COUNT", data.keys), first ? kOpeningRule : "", data.memory && kMemory[state.view], hidden].filter(Boolean).join(" "));
  }

  // Grids are made anew for another width.
  resized() {
    if (this.state.view === "model" || this.state.view === "entropy") this.view = new kViewClasses[this.state.view](this, this.stage);
    this.view.draw();
  }

  save(kind) {
    const { data, state } = this, ofHead = state.view === "head" || state.view === "map", place = `${state.layer + 1}.${state.head + 1}`;
    const caption = [`heed look: ${data.model}`, ofHead ? `layer ${state.layer + 1}, head ${state.head + 1}` : state.view, state.hidden ? "special tokens hidden, weights as they are" : ""];
    savePicture(kind, this.stage, this.view, `heed_${state.view}${ofHead ? `_${place}` : ""}`, caption.filter(Boolean).join("  ·  "));
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

  hide() {
    if (!this.data.canHide) return;
    const { state } = this;
    Object.assign(state, { hidden: !state.hidden, pointed: null });
    if (state.chosen && this.data.shown(state.words, state.hidden).place[state.chosen.unit] < 0) state.chosen = null;
    if (state.view === "model") this.go("model");
    else this.draw();
  }

  // Which label the evidence is told about.
  explain(label) {
    this.state.label = label;
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
    const { at, place } = this.data.shown(this.state.words, this.state.hidden), { chosen } = this.state;
    const unit = at[chosen ? Math.min(Math.max(place[chosen.unit] + step, 0), at.length - 1) : 0];
    this.choose({ unit, toward: chosen?.toward ?? false });
    this.view.reveal?.(unit);
  }

  turn() {
    if (this.state.chosen) this.choose({ ...this.state.chosen, toward: !this.state.chosen.toward });
  }

  // Where a unit looks, or who looks at it, of the units in sight.
  linesInSight(at) {
    const { data, state } = this, { place } = data.shown(state.words, state.hidden);
    return data.lines(state.layer, state.head, state.words, at.unit, at.toward).filter(({ key }) => place[key] >= 0);
  }

  // The status line: what is pointed at, else what the view is about.
  say() {
    const { data, state } = this, at = state.pointed ?? state.chosen, units = data.units(state.words);
    if (state.view === "map" && state.cell) return undefined; // the map has said it
    const place = `layer ${state.layer + 1}, head ${state.head + 1}`;
    if (at && state.view === "head") {
      const lines = this.linesInSight(at).sort((a, b) => b.weight - a.weight).slice(0, 5);
      const list = lines.map(({ key, weight }) => `${visible(units[key].text)} ${percent(weight)}`).join(", ");
      return status(`${place}: **${visible(units[at.unit].text)}** ${at.toward ? "is looked at by" : "looks at"} ${list || "nobody among the largest links"}`);
    }
    if (kSheets.includes(state.view)) return status("press **?** for keys");
    const coarse = state.view === "map" && data.block > 1 && !data.hasFull(state.layer, state.head)
      ? `  ·  each cell is the largest weight of ${data.block} × ${data.block} tokens; heed look --full ${state.layer + 1}.${state.head + 1} has this head in full${state.hidden ? "; blocks of tokens with a special one among them are hidden" : ""}` : "";
    status(`${place}: entropy **${data.entropy[state.layer][state.head].toFixed(2)} bits**${coarse}  ·  press **?** for keys`);
  }
}
