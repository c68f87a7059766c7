// What a language model expected at each place: the likeliest tokens, and what each layer would have said (logit lens).
import { element, inked, percent, visible, weightColor } from "./draw.js";

const chip = ([text, probability], itself) => element("span", {
  className: `guess${itself ? " itself" : ""}`, textContent: visible(text), title: `${visible(text)}  ${percent(probability)}`,
  style: inked(weightColor(probability)),
});

export class NextView {
  constructor(app, stage) {
    this.app = app;
    this.stage = stage;
  }

  draw() {
    const { data } = this.app, layers = data.expected[0]?.layers.length ?? 0;
    const titles = ["token", "probability", "place", "likeliest", "embeddings", ...Array.from({ length: Math.max(0, layers - 1) }, (_, i) => `layer ${i + 1}`)];
    this.stage.replaceChildren(element("table", { className: "next" },
      element("thead", {}, element("tr", {}, ...titles.map((textContent, column) => element("th", { textContent, className: column === 1 || column === 2 ? "number" : "" })))),
      element("tbody", {}, ...data.expected.map((at) => this.row(at)))));
    this.app.painted("next", data.expected.length);
  }

  row({ place, probability, rank, best, layers }) {
    const { data, state } = this.app, text = data.tokens[place], written = data.writtenFrom > 0 && place >= data.writtenFrom;
    const cells = [
      element("th", { textContent: visible(text), scope: "row", title: written ? "written by the model" : "given" }),
      element("td", { className: "number", textContent: percent(probability) }),
      element("td", { className: "number", textContent: `${rank + 1}.` }),
      element("td", {}, ...best.map((guess) => chip(guess, guess[0] === text))),
      ...layers.map(([guess, share, own]) => {
        const cell = element("td", {}, chip([guess, share], guess === text));
        cell.title = `${visible(guess)} ${percent(share)}; ${visible(text)} ${percent(own)}`;
        return cell;
      }),
    ];
    const row = element("tr", { className: `${written ? "written" : ""}${state.chosen?.unit === place && !state.words ? " chosen" : ""}`, dataset: { place } }, ...cells);
    // From here to where the token that predicted it looked.
    row.onclick = () => { Object.assign(state, { words: false, chosen: { unit: place - 1, toward: false } }); this.app.go("head"); };
    return row;
  }
}
