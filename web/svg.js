// A drawing context that writes SVG: the part of CanvasRenderingContext2D that the views use.

const kEscapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// XML has no place for control characters, nor for halves of surrogate pairs.
const escaped = (text) => String(text).replace(/[\p{Surrogate}\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, "\ufffd").replace(/[&<>"]/g, (c) => kEscapes[c]);
const short = (number) => String(Math.round(number * 100) / 100);

// A colour as SVG programs know it: the canvas spells every CSS colour as #rrggbb or rgba(r, g, b, a).
const kSpeller = document.createElement("canvas").getContext("2d");
function paintOf(kind, style, alpha) {
  kSpeller.fillStyle = style;
  const parts = kSpeller.fillStyle.startsWith("#") ? null : kSpeller.fillStyle.match(/[\d.]+/g);
  const color = parts ? `rgb(${parts.slice(0, 3).join(",")})` : kSpeller.fillStyle;
  return `${kind}="${color}" ${kind}-opacity="${short(alpha * (parts ? Number(parts[3]) : 1))}"`;
}

export class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], clips: 0, open: [0], path: "" });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "left", textBaseline: "alphabetic", imageSmoothingEnabled: true });
  }

  // Groups that clip and move end where the state is restored.
  save() { this.open.push(0); }
  restore() { this.parts.push("</g>".repeat(this.open.pop())); }
  group(attributes) {
    this.parts.push(`<g ${attributes}>`);
    ++this.open[this.open.length - 1];
  }
  translate(x, y) { this.group(`transform="translate(${short(x)} ${short(y)})"`); }
  rotate(angle) { this.group(`transform="rotate(${short((angle * 180) / Math.PI)})"`); }
  clip() {
    this.parts.push(`<clipPath id="clip${++this.clips}"><path d="${this.path}"/></clipPath>`);
    this.group(`clip-path="url(#clip${this.clips})"`);
  }

  beginPath() { this.path = ""; }
  add(letter, ...numbers) { this.path += letter + numbers.map(short).join(" "); }
  moveTo(x, y) { this.add("M", x, y); }
  lineTo(x, y) { this.add("L", x, y); }
  bezierCurveTo(...numbers) { this.add("C", ...numbers); }
  rect(x, y, width, height) { this.add("M", x, y); this.path += `h${short(width)}v${short(height)}h${short(-width)}z`; }
  roundRect(x, y, width, height, radius) {
    const r = Math.min(radius, width / 2, height / 2), arc = (dx, dy) => `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
    this.add("M", x + r, y);
    this.path += `h${short(width - 2 * r)}${arc(r, r)}v${short(height - 2 * r)}${arc(-r, r)}h${short(2 * r - width)}${arc(-r, -r)}v${short(2 * r - height)}${arc(r, -r)}z`;
  }
  paint(attributes) { this.parts.push(`<path d="${this.path}" ${attributes}/>`); }
  fill() { this.paint(paintOf("fill", this.fillStyle, this.globalAlpha)); }
  stroke() { this.paint(`fill="none" ${paintOf("stroke", this.strokeStyle, this.globalAlpha)} stroke-width="${short(this.lineWidth)}"`); }
  fillRect(...box) { this.beginPath(); this.rect(...box); this.fill(); }
  strokeRect(...box) { this.beginPath(); this.rect(...box); this.stroke(); }

  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const shift = this.textBaseline === "middle" ? "0.35em" : "0";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" dy="${shift}" text-anchor="${anchor}" ${paintOf("fill", this.fillStyle, this.globalAlpha)} style="font:${escaped(this.font)}" xml:space="preserve">${escaped(text)}</text>`);
  }

  drawImage(canvas, x, y, width, height) {
    const crisp = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
    this.parts.push(`<image x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none"${crisp} href="${canvas.toDataURL()}"/>`);
  }

  toString() {
    const size = `width="${Math.ceil(this.width)}" height="${Math.ceil(this.height)}" viewBox="0 0 ${Math.ceil(this.width)} ${Math.ceil(this.height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
