// What changed the score, beside what was looked at: integrated gradients, occlusion, attention roll-out.
import { element, inked, percent, rgb, signed, signedColor, visible, weightColor } from "./draw.js";

export const mostOf = (values) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);

// A text whose words have backgrounds by their values; `color` takes value / largest.
export function passage(units, values, color, title, largest = mostOf(values) || 1) {
  return element("div", { className: "passage" }, ...units.map((unit, index) => element("span", {
    className: unit.special ? "special" : "", textContent: visible(unit.text), title: title(unit, values[index]),
    dataset: { unit: index, value: values[index] }, style: inked(color(values[index] / largest)),
  })));
}

// A bar that grows from `origin` percent of the width, the middle: blue for, red against.
export function balance(value, largest, origin = 50) {
  const width = (100 - origin) * Math.min(1, Math.abs(value) / (largest || 1));
  return element("div", { className: "balance" }, element("i", {
    style: { width: `${width}%`, left: `${value < 0 ? origin - width : origin}%`, background: `var(${value < 0 ? "--minus" : "--plus"})` },
  }));
}

const isNumber = (cell) => typeof cell === "string" && /^[−+]?\d+\.\d+$/.test(cell);
const row = (...cells) => element("tr", {}, ...cells.map((cell) => (typeof cell === "string"
  ? element("td", { className: isNumber(cell) ? "number" : "", textContent: cell }) : element("td", {}, cell))));

export function table(titles, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...titles.map((textContent, column) => element("th", { className: isNumber(rows[0]?.[column]) ? "number" : "", textContent })))),
    element("tbody", {}, ...rows.map((cells) => row(...cells))));
}

export function section(title, text, ...nodes) {
  return [element("h2", { textContent: title }), element("p", { textContent: text }), ...nodes];
}

// What the colours of all labels and both methods mean.
function scale(largest) {
  const steps = 41, share = (index) => (2 * index) / (steps - 1) - 1;
  return element("div", { className: "scale" }, element("span", { textContent: signed(-largest) }),
    element("div", {}, ...Array.from({ length: steps }, (_, index) => element("i", { style: { background: rgb(signedColor(share(index))) } }))),
    element("span", { textContent: signed(largest) }), element("span", { textContent: "one scale for all labels and both methods, in logits" }));
}

export class EvidenceView {
  constructor(app, stage) {
    this.app = app;
    this.stage = stage;
  }

  draw() {
    const { data, state } = this.app, { at } = data.shown(state.words, state.hidden), all = data.units(state.words);
    const units = at.map((unit) => all[unit]), parts = [];
    if (data.evidence) parts.push(...this.judgement(data.evidence), ...this.evidence(units, at));
    else parts.push(...section("No gradient evidence here", data.evidenceNote));
    if (data.rollout) parts.push(...this.rollout(units));
    this.stage.replaceChildren(element("div", { className: "sheet" }, ...parts));
    this.app.painted("evidence", units.length);
  }

  // Labels without evidence share a row: there may be hundreds.
  judgement({ labels, others }) {
    const count = others.length + 1, rest = labels.slice(count);
    const few = rest.length ? `Evidence is here for the ${count} best of ${labels.length} labels; heed look --labels ${labels.length} has it for all.` : "Evidence is here for every label.";
    const rows = labels.slice(0, count).map(({ label, score }) => [label, score]);
    if (rest.length) rows.push([rest.length > 1 ? `${rest.length} others, each at most` : rest[0].label, rest[0].score]);
    return section("What the classifier says", few,
      table(["label", "score", ""], rows.map(([name, score]) => [name, score.toFixed(3), balance(score, 1, 0)])));
  }

  // One passage per label, all on the scale of `largest`; the name chooses the label that is told about.
  passages(method, explained, units, take, largest) {
    return element("div", { className: "labels", dataset: { method } }, ...explained.map((of) => {
      const chosen = of.label === this.app.state.label;
      return element("div", { className: "label", dataset: { label: of.label } },
        element("button", { className: "toggle", textContent: of.label, title: of.label, "aria-pressed": String(chosen), dataset: { choose: of.label }, onclick: () => this.app.explain(of.label) }),
        passage(units, take(of[method]), signedColor, (unit, value) => `${unit.text}  ${signed(value)}  for “${of.label}”`, largest));
    }));
  }

  evidence(units, at) {
    const { data: { explained }, state } = this.app, take = (values) => at.map((unit) => (state.words ? values.words : values.tokens)[unit]);
    const { label, gradients, occlusion } = explained.find((of) => of.label === state.label);
    const largest = mostOf(explained.flatMap((of) => [mostOf(take(of.gradients)), mostOf(take(of.occlusion))])) || 1;
    const ig = take(gradients), lost = take(occlusion), change = gradients.score - gradients.baselineScore;
    const order = [...units.keys()].filter((index) => !units[index].special).sort((a, b) => Math.abs(ig[b]) - Math.abs(ig[a]));
    return [
      ...section("Integrated gradients",
        `The change of a label's logit between this text and a text without words, shared out over the words. Blue speaks for the label, red against it. For “${label}” the logit goes from ${signed(gradients.baselineScore)}, with every word replaced by ${gradients.baseline || "nothing"}, to ${signed(gradients.score)}. The shares sum to ${signed(change - gradients.gap)}; the change is ${signed(change)}; completeness gap ${signed(gradients.gap, 4)} after ${gradients.steps} steps.`,
        scale(largest), this.passages("gradients", explained, units, take, largest)),
      ...section("Occlusion",
        `What a label's logit loses when ${state.words ? "a word" : "a token"} is ${occlusion.replacement ? `replaced by ${occlusion.replacement}` : "taken out"}. Each is tried by itself, so the numbers need not add up. Same colours.`,
        this.passages("occlusion", explained, units, take, largest)),
      ...section(`Side by side for “${label}”`, "Where the two agree there is something to rely on. Largest gradients first; bars of all labels have one scale.",
        table([state.words ? "word" : "token", "gradients", "", "occlusion", ""], order.slice(0, 60).map((index) => [
          visible(units[index].text), signed(ig[index]), balance(ig[index], largest), signed(lost[index]), balance(lost[index], largest),
        ]))),
    ];
  }

  rollout(units) {
    const values = units.map(({ first, count }) => this.app.data.rollout.slice(first, first + count).reduce((a, b) => a + b, 0));
    const target = this.app.data.expected ? "last" : "first";
    return section("Attention roll-out", `How much of each token could have reached the ${target} token through all layers, if every layer mixed by the mean of its heads and its residual. A rule of thumb about flow, not about the decision.`,
      passage(units, values, weightColor, (unit, value) => `${unit.text}  ${percent(value)}`));
  }
}
