// Small helpers for the DOM, canvases and colours.

export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name.startsWith("aria-") || name === "role") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

// A context whose unit is a CSS pixel, whatever the screen's density.
export function sharp(canvas, width, height) {
  const density = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.max(1, Math.round(width * density));
  canvas.height = Math.max(1, Math.round(height * density));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  return context;
}

export const isDark = () => document.documentElement.dataset.theme === "dark";
export const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const kRamps = {
  light: [[255, 255, 255], [214, 226, 244], [138, 173, 222], [77, 104, 190], [58, 46, 128], [33, 16, 66]],
  dark: [[27, 30, 39], [44, 46, 92], [94, 62, 150], [186, 77, 138], [244, 138, 92], [255, 230, 150]],
};
const kSigned = {
  light: [[190, 52, 40], [232, 140, 120], [255, 255, 255], [132, 172, 232], [34, 92, 190]],
  dark: [[255, 127, 110], [140, 62, 58], [27, 30, 39], [50, 84, 140], [122, 176, 255]],
};

function mixed(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2), part = at - low;
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * part));
}

const themed = (ramps) => (isDark() ? ramps.dark : ramps.light);

// [r, g, b] of a weight as a share of the largest. The power keeps small weights in sight.
export const weightColor = (share) => mixed(themed(kRamps), share ** 0.45);
// [r, g, b] of a number in [-1, 1].
export const signedColor = (share) => mixed(themed(kSigned), 0.5 + 0.5 * Math.sign(share) * Math.abs(share) ** 0.6);
export const rgb = (color, alpha = 1) => `rgba(${color.join(",")},${alpha})`;
// A background and the ink that can be read on it.
export function inked(color) {
  const [r, g, b] = color, light = 0.3 * r + 0.59 * g + 0.11 * b > 128;
  return { background: rgb(color), color: light ? "#1c2130" : "#ffffff" };
}
// One hue per head.
export const headColor = (head, heads, alpha) =>
  `hsla(${Math.round((head * 360) / heads + 228) % 360}, ${isDark() ? "75%, 70%" : "62%, 42%"}, ${alpha})`;

export function percent(weight) {
  if (weight > 0 && weight < 1e-5) return "< 0.001 %";
  return `${weight >= 0.1 || weight === 0 ? (100 * weight).toFixed(1) : (100 * weight).toPrecision(2)} %`;
}
export const signed = (value, digits = 3) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);

// White space that would not be seen.
export const visible = (text) => text.replace(/\s/g, (space) => (space === "\n" ? "↵" : "·")) || "∅";
