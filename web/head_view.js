// Two columns of tokens with lines from each to those it looks at; thickness is weight. Only what is in sight is drawn.
import { cssColor, element, headColor, sharp, visible } from "./draw.js";

const kLeastRow = 22, kMostRow = 32, kFirstRow = 30, kMostUnfolded = 500; // pixels; short texts have the higher rows

export class HeadView {
  constructor(app, stage) {
    this.app = app;
    this.stage = stage;
    this.canvas = element("canvas");
    this.canvas.paint = (context) => this.lines(context);
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
    const y = kFirstRow + this.shown.place[unit] * this.row, height = this.stage.clientHeight;
    if (y < this.stage.scrollTop + kFirstRow) this.stage.scrollTop = Math.max(0, y - kFirstRow);
    if (y + this.row > this.stage.scrollTop + height) this.stage.scrollTop = y + 2 * this.row - height;
  }

  // For a picture: all rows at once, where they are not too many.
  unfold(on) {
    this.unfolded = on && this.shown.at.length <= kMostUnfolded;
    this.draw();
  }

  draw() {
    const { data, state } = this.app;
    this.shown = data.shown(state.words, state.hidden);
    const count = this.shown.at.length, room = (this.stage.clientHeight - kFirstRow) / (count + 1);
    this.row = Math.min(kMostRow, Math.max(kLeastRow, Math.floor(room)));
    const tall = kFirstRow + (count + 1) * this.row;
    const width = this.stage.clientWidth, height = this.unfolded ? tall : this.stage.clientHeight;
    const top = this.unfolded ? 0 : this.stage.scrollTop;
    this.tall.style.height = `${tall}px`;
    this.pinned.style.height = `${height}px`;
    const column = Math.min(280, Math.max(110, width * 0.24)), gap = Math.min(520, width - 2 * column - 40);
    const left = (width - 2 * column - gap) / 2;
    this.place = { from: left, to: left + column + gap, column, gap, x1: left + column, x2: left + column + gap, height };
    const first = Math.max(0, Math.floor((top - kFirstRow) / this.row) - 1);
    this.range = [first, Math.min(count, first + Math.ceil(height / this.row) + 3)];
    this.y = (unit) => kFirstRow + this.shown.place[unit] * this.row - top;
    const lit = this.lines(sharp(this.canvas, width, height));
    this.drawTokens(data.units(state.words), lit);
    this.app.painted("head", lit.drawn);
  }

  // Draws the lines; returns the tokens at both ends of those of the token that is pointed at, with their weights as
  // shares of the largest. Thickness is weight; strength of colour is that share, so that heads that look everywhere a
  // little are not empty.
  lines(context) {
    const { data, state } = this.app, at = state.pointed ?? state.chosen, { shown } = this;
    const lit = { from: new Map(), to: new Map(), drawn: 0 };
    if (at) {
      const lines = this.app.linesInSight(at);
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
    const all = data.unitLinks(state.layer, state.head, state.words);
    const rows = shown.at.slice(...this.range).map((unit) => [unit, all[unit].filter(({ key }) => shown.place[key] >= 0)]);
    const largest = rows.reduce((most, [, [first]]) => Math.max(most, first?.weight ?? 0), 1e-9);
    rows.forEach(([unit, links]) => links.forEach(({ key, weight }) => {
      if (weight < 0.03 * largest) return;
      this.line(context, unit, key, weight, 0.75 * (weight / largest));
      ++lit.drawn;
    }));
    return lit;
  }

  line(context, from, to, weight, strength) {
    const { x1, x2, gap } = this.place, y1 = this.y(from) + this.row / 2, y2 = this.y(to) + this.row / 2;
    const outOfSight = y1 < 0 || y2 < 0 || Math.max(y1, y2) > this.place.height;
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
    for (const unit of this.shown.at.slice(...this.range)) {
      for (const side of ["from", "to"]) {
        const share = lit[side].get(unit) ?? 0, { text, special } = units[unit];
        const chosen = state.chosen?.unit === unit && state.chosen.toward === (side === "to");
        nodes.push(element("div", {
          className: `token ${side}${special ? " special" : ""}${chosen ? " chosen" : ""}`,
          textContent: visible(text), title: text, dataset: { unit },
          style: {
            left: `${this.place[side]}px`, top: `${this.y(unit)}px`, width: `${this.place.column}px`,
            height: `${this.row}px`, lineHeight: `${this.row}px`,
            background: share > 0.01 ? headColor(state.head, data.heads, 0.5 * share ** 0.8) : "",
          },
        }));
      }
    }
    nodes.push(title("looks from", this.place.from, "right"), title("at", this.place.to, "left"));
    this.pinned.replaceChildren(...nodes);
  }
}
