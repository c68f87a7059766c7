// The stage as a picture: its elements and canvases are drawn once more, into a canvas (PNG) or into SVG.
import { cssColor, element } from "./draw.js";
import { SvgContext } from "./svg.js";

const kCaption = 34, kDensity = 2, kMostPixels = 16000; // browsers have no larger canvases

const seen = (color) => !/^(transparent|rgba\(.*, 0\))$/.test(color);

// A node's background and borders.
function drawBox(context, style, { left, top, width, height }) {
  const radius = parseFloat(style.borderTopLeftRadius) || 0, border = parseFloat(style.borderTopWidth);
  const outline = (inset) => {
    context.beginPath();
    context.roundRect(left + inset, top + inset, width - 2 * inset, height - 2 * inset, radius);
  };
  if (seen(style.backgroundColor)) {
    context.fillStyle = style.backgroundColor;
    outline(0);
    context.fill();
  }
  if (!(border > 0) || style.borderTopStyle === "none") return;
  context.strokeStyle = style.borderTopColor;
  context.lineWidth = border;
  if (parseFloat(style.borderBottomWidth) > 0) outline(border / 2);
  else {
    context.beginPath();
    context.moveTo(left, top + border / 2);
    context.lineTo(left + width, top + border / 2);
  }
  context.stroke();
}

// The words of a text node, each where the browser has set it.
function drawWords(context, node, style, box) {
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const range = document.createRange();
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { left, top, height } = box(range);
    context.fillText(word, left, top + height / 2);
  }
}

function drawNode(context, node, box, alpha) {
  if (node.nodeType === Node.TEXT_NODE) return drawWords(context, node, getComputedStyle(node.parentElement), box);
  if (node.classList.contains("screen-only")) return undefined;
  const style = getComputedStyle(node), place = box(node), opacity = alpha * Number(style.opacity);
  if (style.visibility === "hidden" || style.display === "none") return undefined;
  context.globalAlpha = opacity;
  if (node.tagName === "CANVAS") {
    context.save();
    context.translate(place.left, place.top);
    if (node.paint) node.paint(context);
    else {
      context.imageSmoothingEnabled = false;
      context.drawImage(node, 0, 0, place.width, place.height);
    }
    return context.restore();
  }
  drawBox(context, style, place);
  const cut = style.overflowX === "hidden" && node.scrollWidth > node.clientWidth;
  if (cut) {
    context.save();
    context.beginPath();
    context.rect(place.left, place.top, place.width, place.height);
    context.clip();
  }
  for (const child of node.childNodes) drawNode(context, child, box, opacity);
  if (cut) context.restore();
  return undefined;
}

function save(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

// Draws the whole stage, also what is scrolled out of sight, with a caption, and hands it over as a file.
export function savePicture(kind, stage, view, name, caption) {
  view.unfold?.(true);
  const origin = stage.getBoundingClientRect();
  const box = (of) => {
    const { left, top, width, height } = of.getBoundingClientRect();
    return { left: left - origin.left + stage.scrollLeft, top: top - origin.top + stage.scrollTop, width, height };
  };
  const width = stage.scrollWidth, height = stage.scrollHeight + kCaption;
  const density = Math.min(kDensity, kMostPixels / Math.max(width, height));
  const canvas = element("canvas", { width: Math.ceil(width * density), height: Math.ceil(height * density) });
  const context = kind === "svg" ? new SvgContext(width, height) : canvas.getContext("2d");
  if (kind === "png") context.scale(density, density);
  context.fillStyle = cssColor("--paper");
  context.fillRect(0, 0, width, height);
  for (const child of stage.children) drawNode(context, child, box, 1);
  context.globalAlpha = 1;
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = cssColor("--soft");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(caption, 18, height - kCaption / 2);
  view.unfold?.(false);
  if (kind === "svg") save(new Blob([context.toString()], { type: "image/svg+xml" }), `${name}.svg`);
  else canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
}
