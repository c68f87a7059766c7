// What changed the score, beside what was looked at: integrated gradients, occlusion, attention roll-out.
import { element, percent, rgb, signed, signedColor, visible, weightColor } from "./draw.js";

// A text whose words have backgrounds by their values; `color` takes value / largest.
export function passage(units, values, color, title) {
  const largest = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  return element("div", { className: "passage" }, ...units.map((unit, index) => element("span", {
    className: unit.special ? "special" : "", textContent: visible(unit.text), title: title(unit, values[index]),
    dataset: { unit: index }, style: { background: rgb(color(values[index] / largest), 0.75) },
  })));
}

// A bar that grows from `origin` percent of the width, the middle: blue for, red against.
export function balance(value, largest, origin = 50) {
  const width = (100 - origin) * Math.min(1, Math.abs(value) / (largest || 1));
  return element("div", { className: "balance" }, element("i", {
    style: { width: `${width}%`, left: `${value < 0 ? origin - width : origin}%`, background: `var(${value < 0 ? "--minus" : "--plus"})` },
  }));
}

const row = (...cells) => element("tr", {}, ...cells.map((cell) => (typeof cell === "string"
  ? element("td", { className: /^[−+\d]/.test(cell) ? "number" : "", textContent: cell }) : element("td", {}, cell))));

export function table(titles, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...titles.map((textContent) => element("th", { textContent })))),
    element("tbody", {}, ...rows.map((cells) => row(...cells))));
}

export function section(title, text, ...nodes) {
  return [element("h2", { textContent: title }), element("p", { textContent: text }), ...nodes];
}

export class EvidenceView {
  constructor(app, stage) {
    this.app = app;
    this.stage = stage;
  }

  draw() {
    const { data, state } = this.app, units = data.units(state.words);
    const parts = [];
    if (data.evidence) parts.push(...this.judgement(data.evidence), ...this.evidence(data.evidence, units));
    else parts.push(...section("No gradient evidence here", data.evidenceNote));
    if (data.rollout) parts.push(...this.rollout(units));
    this.stage.replaceChildren(element("div", { className: "sheet" }, ...parts));
    this.app.painted("evidence", units.length);
  }

  judgement({ labels, label }) {
    return section("What the classifier says", `Explained below: the logit of “${label}”.`,
      table(["label", "score", ""], labels.map(({ label: name, score }) => [name, score.toFixed(3), balance(score, 1, 0)])));
  }

  evidence({ label, gradients, occlusion }, units) {
    const merged = this.app.state.words, take = (values) => (merged ? values.words : values.tokens);
    const ig = take(gradients), hidden = take(occlusion);
    const most = (values) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const change = gradients.score - gradients.baselineScore;
    const order = units.map((_, index) => index).filter((index) => !units[index].special).sort((a, b) => Math.abs(ig[b]) - Math.abs(ig[a]));
    return [
      ...section("Integrated gradients",
        `The change of the logit from ${signed(gradients.baselineScore)}, with every word replaced by ${gradients.baseline || "nothing"}, to ${signed(gradients.score)} for this text, shared out over the words. Blue speaks for “${label}”, red against it. The shares sum to ${signed(change - gradients.gap)}; the change is ${signed(change)}; completeness gap ${signed(gradients.gap, 4)} after ${gradients.steps} steps.`,
        passage(units, ig, signedColor, (unit, value) => `${unit.text}  ${signed(value)}`)),
      ...section("Occlusion",
        `What the logit loses when ${merged ? "a word" : "a token"} is ${occlusion.replacement ? `replaced by ${occlusion.replacement}` : "taken out"}. Each is tried by itself, so the numbers need not add up.`,
        passage(units, hidden, signedColor, (unit, value) => `${unit.text}  ${signed(value)}`)),
      ...section("Side by side", "Where the two agree there is something to rely on. Largest gradients first.",
        table([merged ? "word" : "token", "gradients", "", "occlusion", ""], order.slice(0, 60).map((index) => [
          visible(units[index].text), signed(ig[index]), balance(ig[index], most(ig)), signed(hidden[index]), balance(hidden[index], most(hidden)),
        ]))),
    ];
  }

  rollout(units) {
    const values = units.map(({ first, count }) => this.app.data.rollout.slice(first, first + count).reduce((a, b) => a + b, 0));
    return section("Attention roll-out", "How much of each token could have reached the first token through all layers, if every layer mixed by the mean of its heads and its residual. A rule of thumb about flow, not about the decision.",
      passage(units, values, weightColor, (unit, value) => `${unit.text}  ${percent(value)}`));
  }
}
