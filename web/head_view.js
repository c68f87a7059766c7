// Two columns of tokens with lines from each to those it looks at; thickness is weight. Only what is in sight is drawn.
import { cssColor, element, headColor, sharp, visible } from "./draw.js";

const kRowHeight = 22, kFirstRow = 30;

export class HeadView {
  constructor(app, stage) {
    this.app = app;
    this.stage = stage;
    this.canvas = element("canvas");
    this.pinned = element("div", { className: "pinned" }, this.canvas);
    this.tall = element("div", {}, this.pinned);
    stage.replaceChildren(this.tall);
    stage.onscroll = () => this.draw();
    this.pinned.onmousemove = (event) => this.hover(event);
    this.pinned.onmouseleave = () => app.point(null);
    this.pinned.onclick = (event) => this.hover(event, true);
  }

  hover(event, pin = false) {
    const node = event.target.closest(".token");
    const at = node && { unit: Number(node.dataset.unit), toward: node.classList.contains("to") };
    if (pin) this.app.choose(at);
    else this.app.point(at);
  }

  // Brings a unit into sight.
  reveal(unit) {
    const y = kFirstRow + unit * kRowHeight, height = this.stage.clientHeight;
    if (y < this.stage.scrollTop + kFirstRow) this.stage.scrollTop = Math.max(0, y - kFirstRow);
    if (y + kRowHeight > this.stage.scrollTop + height) this.stage.scrollTop = y + 2 * kRowHeight - height;
  }

  draw() {
    const { data, state } = this.app, units = data.units(state.words);
    const width = this.stage.clientWidth, height = this.stage.clientHeight;
    this.tall.style.height = `${kFirstRow + units.length * kRowHeight + kRowHeight}px`;
    this.pinned.style.height = `${height}px`;
    const column = Math.min(280, Math.max(110, width * 0.24)), gap = Math.min(520, width - 2 * column - 40);
    const left = (width - 2 * column - gap) / 2;
    this.place = { from: left, to: left + column + gap, column, gap, x1: left + column, x2: left + column + gap };
    const first = Math.max(0, Math.floor((this.stage.scrollTop - kFirstRow) / kRowHeight) - 1);
    this.range = [first, Math.min(units.length, first + Math.ceil(height / kRowHeight) + 3)];
    this.y = (unit) => kFirstRow + unit * kRowHeight - this.stage.scrollTop;
    const lit = this.lines(units);
    this.drawTokens(units, lit);
    this.app.painted("head", lit.drawn);
  }

  // Draws the lines; returns the tokens at both ends of those of the token that is pointed at, with their weights as
  // shares of the largest. Thickness is weight; strength of colour is that share, so that heads that look everywhere a
  // little are not empty.
  lines(units) {
    const { data, state } = this.app, at = state.pointed ?? state.chosen;
    const context = sharp(this.canvas, this.stage.clientWidth, this.stage.clientHeight);
    const lit = { from: new Map(), to: new Map(), drawn: 0 };
    if (at && at.unit < units.length) {
      const lines = data.lines(state.layer, state.head, state.words, at.unit, at.toward);
      const largest = lines.reduce((most, { weight }) => Math.max(most, weight), 1e-9);
      for (const { key, weight } of lines) {
        lit[at.toward ? "from" : "to"].set(key, weight / largest);
        if (weight < 0.01 * largest) continue;
        this.line(context, at.toward ? key : at.unit, at.toward ? at.unit : key, weight, weight / largest);
        ++lit.drawn;
      }
      lit[at.toward ? "to" : "from"].set(at.unit, 1);
      return lit;
    }
    const links = data.unitLinks(state.layer, state.head, state.words).slice(...this.range);
    const largest = links.reduce((most, [first]) => Math.max(most, first?.weight ?? 0), 1e-9);
    links.forEach((row, index) => row.forEach(({ key, weight }) => {
      if (weight < 0.03 * largest) return;
      this.line(context, this.range[0] + index, key, weight, 0.75 * (weight / largest));
      ++lit.drawn;
    }));
    return lit;
  }

  line(context, from, to, weight, strength) {
    const { x1, x2, gap } = this.place, y1 = this.y(from) + kRowHeight / 2, y2 = this.y(to) + kRowHeight / 2;
    const outOfSight = y1 < 0 || y2 < 0 || Math.max(y1, y2) > this.stage.clientHeight;
    const alpha = (0.12 + 0.84 * strength ** 0.7) * (outOfSight ? 0.3 : 1);
    context.strokeStyle = headColor(this.app.state.head, this.app.data.heads, alpha);
    context.lineWidth = 0.8 + 5 * weight;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + gap * 0.4, y1, x2 - gap * 0.4, y2, x2, y2);
    context.stroke();
  }

  drawTokens(units, lit) {
    const { state, data } = this.app, nodes = [this.canvas];
    const title = (text, x, align) => element("div", {
      className: "column-title", textContent: text,
      style: { left: `${x}px`, width: `${this.place.column}px`, textAlign: align, background: cssColor("--paper"), zIndex: 1, top: 0, padding: "6px 9px" },
    });
    for (let unit = this.range[0]; unit < this.range[1]; ++unit) {
      for (const side of ["from", "to"]) {
        const share = lit[side].get(unit) ?? 0, { text, special } = units[unit];
        const chosen = state.chosen?.unit === unit && state.chosen.toward === (side === "to");
        nodes.push(element("div", {
          className: `token ${side}${special ? " special" : ""}${chosen ? " chosen" : ""}`,
          textContent: visible(text), title: text, dataset: { unit },
          style: {
            left: `${this.place[side]}px`, top: `${this.y(unit)}px`, width: `${this.place.column}px`,
            background: share > 0.01 ? headColor(state.head, data.heads, 0.5 * share ** 0.8) : "",
          },
        }));
      }
    }
    nodes.push(title("looks from", this.place.from, "right"), title("at", this.place.to, "left"));
    this.pinned.replaceChildren(...nodes);
  }
}
