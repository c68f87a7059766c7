// A matrix as a map on a canvas: zoom, pan, a cell under the pointer or the keyboard's cursor, labels where they fit.
// Cells are painted in tiles when they come into sight, so a map of 4,096 tokens opens at once.
import { cssColor, element, sharp, visible } from "./draw.js";

const kTile = 256, kMapTop = 96, kMapRight = 84, kLabel = 13, kShades = 4096;

export class HeatMap {
  // source: {rows, columns, block, value(i, j), color(value) -> [r, g, b], rowText(i), columnText(j),
  // range: {low, high, labels}: values of the legend's ends, and what stands beside it from low to high}
  // report(cell or null) is told where the pointer is.
  constructor(stage, report) {
    this.stage = stage;
    this.report = report;
    this.canvas = element("canvas", { className: "map" });
    this.canvas.paint = (context) => this.drawOn(context);
    const button = (textContent, name, onclick) => element("button", { textContent, "aria-label": name, title: name, onclick });
    stage.replaceChildren(this.canvas, element("div", { className: "zoom screen-only" },
      button("+", "zoom in", () => this.zoom(1.4)), button("−", "zoom out", () => this.zoom(1 / 1.4)), button("⤢", "show all", () => this.fit())));
    this.canvas.onwheel = (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    };
    this.canvas.onpointerdown = (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.drag = { x: event.offsetX, y: event.offsetY, left: this.left, top: this.top };
    };
    this.canvas.onpointerup = () => { this.drag = null; };
    this.canvas.onpointermove = (event) => this.pointer(event);
    this.canvas.onpointerleave = () => this.aim(null);
  }

  show(source) {
    const sameShape = this.source && this.source.rows === source.rows && this.source.columns === source.columns;
    this.source = source;
    this.tiles = new Map();
    if (!sameShape) this.cell = null;
    if (!sameShape || this.scale === this.least) this.fit();
    if (this.cell) this.aim(this.cell);
    else this.draw();
  }

  // Room for the names of the rows.
  get margin() { return this.stage.clientWidth < 600 ? 84 : 120; }
  get area() { return { width: this.stage.clientWidth - this.margin - kMapRight, height: this.stage.clientHeight - kMapTop - 10 }; }

  // Where the first column in sight is drawn: a map that is narrower than the stage stands in the middle.
  get x0() { return this.margin + Math.max(0, this.area.width - this.source.columns * this.scale) / 2; }

  // Where the legend is drawn, beside the map.
  get legendX() { return this.x0 + Math.min(this.area.width, this.source.columns * this.scale) + 16; }

  fit() {
    const { width, height } = this.area, { rows, columns } = this.source;
    this.scale = this.least = Math.min(width / columns, height / rows, 44);
    this.left = this.top = 0; // cells that lie left of and above what is in sight
    this.draw();
  }

  clamp() {
    const { width, height } = this.area, { rows, columns } = this.source;
    this.left = Math.min(Math.max(0, this.left), Math.max(0, columns - width / this.scale));
    this.top = Math.min(Math.max(0, this.top), Math.max(0, rows - height / this.scale));
  }

  // About a point of the canvas, else about the cursor or the middle.
  zoom(factor, x, y) {
    const { width, height } = this.area;
    const px = x !== undefined ? x - this.x0 : this.cell ? (this.cell.column + 0.5 - this.left) * this.scale : width / 2;
    const py = y !== undefined ? y - kMapTop : this.cell ? (this.cell.row + 0.5 - this.top) * this.scale : height / 2;
    const column = this.left + px / this.scale, row = this.top + py / this.scale;
    this.scale = Math.min(Math.max(this.scale * factor, this.least), 60);
    this.left = column - px / this.scale;
    this.top = row - py / this.scale;
    this.draw();
  }

  pointer(event) {
    if (this.drag) {
      this.left = this.drag.left - (event.offsetX - this.drag.x) / this.scale;
      this.top = this.drag.top - (event.offsetY - this.drag.y) / this.scale;
      this.draw();
      return;
    }
    const column = Math.floor(this.left + (event.offsetX - this.x0) / this.scale);
    const row = Math.floor(this.top + (event.offsetY - kMapTop) / this.scale);
    const inside = event.offsetX >= this.x0 && event.offsetY >= kMapTop && column < this.source.columns && row < this.source.rows;
    this.aim(inside ? { row, column } : null);
  }

  // The keyboard's pointer.
  step(rows, columns) {
    const { cell, source } = this;
    const row = Math.min(Math.max((cell?.row ?? 0) + (cell ? rows : 0), 0), source.rows - 1);
    const column = Math.min(Math.max((cell?.column ?? 0) + (cell ? columns : 0), 0), source.columns - 1);
    const { width, height } = this.area, inSight = (at, from, size) => Math.min(Math.max(from, at + 1 - size / this.scale), at);
    this.left = inSight(column, this.left, width);
    this.top = inSight(row, this.top, height);
    this.aim({ row, column });
  }

  aim(cell) {
    this.cell = cell;
    this.report(cell && { ...cell, value: this.source.value(cell.row, cell.column) });
    this.draw();
  }

  tile(row, column) {
    const key = `${row} ${column}`;
    if (!this.tiles.has(key)) this.tiles.set(key, this.paint(row * kTile, column * kTile));
    return this.tiles.get(key);
  }

  // The colours of the range, once for all cells.
  shades() {
    const { range: { low, high }, color } = this.source;
    this.source.shades ??= new Uint8Array(Array.from({ length: kShades }, (_, i) => color(low + ((high - low) * i) / (kShades - 1))).flat());
    return this.source.shades;
  }

  paint(row, column) {
    const { rows, columns, value, range } = this.source, shades = this.shades(), step = (kShades - 1) / (range.high - range.low || 1);
    const height = Math.min(kTile, rows - row), width = Math.min(kTile, columns - column);
    const canvas = element("canvas", { width, height }), context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    for (let i = 0, at = 0; i < height; ++i) {
      for (let j = 0; j < width; ++j, at += 4) {
        const shade = 3 * Math.round((value(row + i, column + j) - range.low) * step);
        image.data[at] = shades[shade], image.data[at + 1] = shades[shade + 1], image.data[at + 2] = shades[shade + 2], image.data[at + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  draw() {
    if (!this.source) return;
    this.clamp();
    this.drawOn(sharp(this.canvas, this.stage.clientWidth, this.stage.clientHeight));
  }

  drawOn(context) {
    const { rows, columns } = this.source, { width, height } = this.area, { scale, left, top } = this;
    context.save();
    context.beginPath();
    context.rect(this.x0, kMapTop, Math.min(width, columns * scale), Math.min(height, rows * scale));
    context.clip();
    context.imageSmoothingEnabled = scale < 1;
    const lastRow = Math.min(rows, top + height / scale), lastColumn = Math.min(columns, left + width / scale);
    for (let i = Math.floor(top / kTile); i * kTile < lastRow; ++i) {
      for (let j = Math.floor(left / kTile); j * kTile < lastColumn; ++j) {
        const tile = this.tile(i, j);
        context.drawImage(tile, this.x0 + (j * kTile - left) * scale, kMapTop + (i * kTile - top) * scale, tile.width * scale, tile.height * scale);
      }
    }
    context.restore();
    this.drawLabels(context, lastRow, lastColumn);
    this.drawCursor(context);
    this.drawLegend(context);
  }

  drawLegend(context) {
    const { range, color, rows, columns } = this.source, height = 140, steps = 70, x = this.legendX;
    context.textAlign = "left";
    context.fillStyle = cssColor("--soft");
    range.labels.forEach((text, index) => context.fillText(text, x + 16, kMapTop + 4 + (height - 8) * (1 - index / (range.labels.length - 1))));
    for (let i = 0; i < steps; ++i) {
      context.fillStyle = `rgb(${color(range.high + ((range.low - range.high) * i) / (steps - 1)).join(",")})`;
      context.fillRect(x, kMapTop + (i * height) / steps, 10, height / steps + 0.5);
    }
    context.strokeStyle = cssColor("--line");
    context.lineWidth = 1;
    context.strokeRect(x, kMapTop, 10, height);
    context.strokeRect(this.x0, kMapTop, Math.min(this.area.width, columns * this.scale), Math.min(this.area.height, rows * this.scale));
  }

  drawLabels(context, lastRow, lastColumn) {
    const { scale, left, top, source, cell } = this, step = Math.max(1, Math.ceil(kLabel / scale));
    const ink = cssColor("--ink"), soft = cssColor("--soft");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const far = (a, b) => b === undefined || Math.abs(a - b) * scale >= kLabel;
    const label = (text, x, y, turned, strong) => {
      context.save();
      context.translate(x, y);
      if (turned) context.rotate(-Math.PI / 3);
      context.textAlign = turned ? "left" : "right";
      context.fillStyle = strong ? ink : soft;
      const shown = visible(text);
      context.fillText(shown.length > 16 ? `${shown.slice(0, 15)}…` : shown, 0, 0, turned ? 104 : this.margin - 14);
      context.restore();
    };
    for (let i = Math.ceil(top / step) * step; i < lastRow; i += step) {
      if (far(i, cell?.row)) label(source.rowText(i), this.x0 - 7, kMapTop + (i + 0.5 - top) * scale, false, false);
    }
    for (let j = Math.ceil(left / step) * step; j < lastColumn; j += step) {
      if (far(j, cell?.column)) label(source.columnText(j), this.x0 + (j + 0.5 - left) * scale, kMapTop - 7, true, false);
    }
    if (!cell) return;
    label(source.rowText(cell.row), this.x0 - 7, kMapTop + (cell.row + 0.5 - top) * scale, false, true);
    label(source.columnText(cell.column), this.x0 + (cell.column + 0.5 - left) * scale, kMapTop - 7, true, true);
  }

  drawCursor(context) {
    if (!this.cell) return;
    const { scale } = this, size = Math.max(scale, 3);
    context.strokeStyle = cssColor("--minus");
    context.lineWidth = 1.5;
    context.strokeRect(this.x0 + (this.cell.column - this.left) * scale, kMapTop + (this.cell.row - this.top) * scale, size, size);
  }
}
