// The weights of one head as a map.
import { percent, visible, weightColor } from "./draw.js";
import { HeatMap } from "./heat_map.js";
import { status } from "./shell.js";

export class MapView {
  constructor(app, stage) {
    this.app = app;
    this.map = new HeatMap(stage, (cell) => this.report(cell));
  }

  draw() {
    const { data, state } = this.app, cells = data.shownCells(state.layer, state.head, state.words, state.hidden);
    const units = data.units(state.words && data.block === 1);
    const text = (index) => units[Math.min(cells.at[index] * cells.block, units.length - 1)].text;
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
    status(`**${visible(this.text(cell.row))}** looks at **${visible(this.text(cell.column))}**: **${percent(cell.value)}**  (row ${cells.at[cell.row] * cells.block + 1}, column ${cells.at[cell.column] * cells.block + 1}${several})`);
  }
}
