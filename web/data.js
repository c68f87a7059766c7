// What the page carries: tokens and words, and for each head packed links and a packed map (explain/packed.h).

const kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const kLevels = new Uint8Array(128);
for (let i = 0; i < 64; ++i) kLevels[kAlphabet.charCodeAt(i)] = i;
const kSquares = Float32Array.from({ length: 64 }, (_, level) => (level / 63) ** 2);
const kLinkCharacters = 5; // three of the key, two of the square root of the weight

const packed = (name) => document.getElementById(name)?.textContent ?? "";

export class LookData {
  constructor(json) {
    Object.assign(this, json);
    this.count = this.tokens.length;
    this.keys = this.count + (this.memory ?? 0);  // a memory's come before those of the text, and are not shown
    this.tokenUnits = this.tokens.map((text, first) => ({ text, first, count: 1, special: this.special[first] === 1 }));
    this.wordUnits = this.words.map(([first, count, text]) => ({ text, first, count, special: this.special[first] === 1 }));
    this.wordOf = new Uint32Array(this.count);
    this.wordUnits.forEach((word, index) => this.wordOf.fill(index, word.first, word.first + word.count));
    this.cache = new Map();
    this.explained = this.evidence ? [this.evidence, ...this.evidence.others] : []; // labels with evidence, best first
    this.canHide = this.special.includes(1) && this.special.includes(0);
  }

  units(merged) { return merged ? this.wordUnits : this.tokenUnits; }

  // The units in sight: `at` has their indices, `place` for each unit where it stands among them, -1 for those hidden.
  shown(merged, hidden) {
    return this.remembered(`shown ${merged} ${hidden}`, () => {
      const units = this.units(merged), at = [...units.keys()].filter((unit) => !(hidden && units[unit].special));
      const place = new Int32Array(units.length).fill(-1);
      at.forEach((unit, index) => { place[unit] = index; });
      return { at, place };
    });
  }

  remembered(key, make) {
    if (!this.cache.has(key)) {
      if (this.cache.size > 12) this.cache.delete(this.cache.keys().next().value);
      this.cache.set(key, make());
    }
    return this.cache.get(key);
  }

  // Of each token its largest weights: {key, weight}, descending.
  tokenLinks(layer, head) {
    return this.remembered(`links ${layer} ${head}`, () => {
      const text = packed(`links-${layer}-${head}`);
      const level = (at) => kLevels[text.charCodeAt(at)];
      return this.tokens.map((_, row) => {
        const links = [];
        for (let i = 0, at = row * this.links * kLinkCharacters; i < this.links; ++i, at += kLinkCharacters) {
          const weight = ((level(at + 3) * 64 + level(at + 4)) / 4095) ** 2;
          if (weight > 0) links.push({ key: (level(at) * 64 + level(at + 1)) * 64 + level(at + 2), weight });
        }
        return links;
      });
    });
  }

  hasFull(layer, head) { return this.block === 1 || document.getElementById(`full-${layer}-${head}`) !== null; }

  // The map of a head: value(i, j) of rows x columns cells, each the largest weight of block x block tokens.
  cells(layer, head, merged, coarse = false) {
    if (merged && this.block === 1) return this.wordCells(layer, head);
    return this.remembered(`cells ${layer} ${head} ${coarse}`, () => {
      const full = !coarse && this.block > 1 && this.hasFull(layer, head);
      const text = packed(`${full ? "full" : "map"}-${layer}-${head}`);
      const block = full ? 1 : this.block;
      const side = Math.ceil(this.count / block);
      const largest = new Float32Array(side);
      this.tokenLinks(layer, head).forEach((links, row) => {
        const at = Math.floor(row / block);
        largest[at] = Math.max(largest[at], links[0]?.weight ?? 0);
      });
      const value = (i, j) => largest[i] * kSquares[kLevels[text.charCodeAt(i * side + j)]];
      return { rows: side, columns: side, block, value, largest: largest.reduce((a, b) => Math.max(a, b), 0) };
    });
  }

  // The cells in sight; `at` has their indices. Where a cell is a block of tokens, one special token hides it.
  shownCells(layer, head, merged, hidden, coarse = false) {
    const cells = this.cells(layer, head, merged, coarse), units = this.units(merged && this.block === 1);
    const all = [...Array(cells.rows).keys()];
    if (!hidden) return { ...cells, at: all };
    const at = all.filter((index) => !units.slice(index * cells.block, (index + 1) * cells.block).some(({ special }) => special));
    const value = (i, j) => cells.value(at[i], at[j]);
    const largest = this.remembered(`largest ${layer} ${head} ${merged} ${cells.block}`, () => {
      let most = 0;
      for (const i of at) for (const j of at) most = Math.max(most, cells.value(i, j));
      return most;
    });
    return { rows: at.length, columns: at.length, block: cells.block, value, largest, at };
  }

  // The head to open first: where there is most to see.
  headWorthSeeing() {
    let best = { layer: 0, head: 0, score: 0 };
    for (let layer = 0; layer < this.layers; ++layer) {
      for (let head = 0; head < this.heads; ++head) {
        const score = this.worthSeeing(layer, head);
        if (score > best.score) best = { layer, head, score };
      }
    }
    return best;
  }

  // How much there is to see in a head: for each token the best link that reaches it from at least three places away,
  // added up. A link counts its weight times what this exceeds the mean of the column's other rows, so that a token
  // which all rows look at counts little. Heads that look at a neighbour or at everything a little come last as well.
  // Special tokens count on neither side.
  worthSeeing(layer, head) {
    const text = packed(`links-${layer}-${head}`), level = (at) => kLevels[text.charCodeAt(at)];
    const size = this.count * this.links, keys = new Uint32Array(size), weights = new Float32Array(size);
    const sums = new Float32Array(this.count), reached = new Float32Array(this.count);
    for (let i = 0, at = 0; i < size; ++i, at += kLinkCharacters) {
      keys[i] = (level(at) * 64 + level(at + 1)) * 64 + level(at + 2);
      if (this.special[Math.floor(i / this.links)] || this.special[keys[i]]) continue;
      weights[i] = ((level(at + 3) * 64 + level(at + 4)) / 4095) ** 2;
      sums[keys[i]] += weights[i];
    }
    const others = Math.max(1, this.special.filter((special) => !special).length - 1);
    weights.forEach((weight, i) => {
      if (Math.abs(Math.floor(i / this.links) - keys[i]) < 3) return;
      reached[keys[i]] = Math.max(reached[keys[i]], weight * (weight - (sums[keys[i]] - weight) / others));
    });
    return reached.reduce((sum, worth) => sum + worth, 0);
  }

  // Words look at words: sums over the columns of a word, means over its rows.
  wordCells(layer, head) {
    return this.remembered(`words ${layer} ${head}`, () => {
      const { value } = this.cells(layer, head, false);
      const side = this.words.length;
      const sums = new Float32Array(side * side);
      for (let i = 0; i < this.count; ++i) {
        const row = this.wordOf[i] * side, share = 1 / this.wordUnits[this.wordOf[i]].count;
        for (let j = 0; j < this.count; ++j) sums[row + this.wordOf[j]] += value(i, j) * share;
      }
      const largest = sums.reduce((a, b) => Math.max(a, b), 0);
      return { rows: side, columns: side, block: 1, value: (i, j) => sums[i * side + j], largest };
    });
  }

  // The largest weights of each unit. Merged words have them from the map, or, where it is coarse, from their tokens' links.
  unitLinks(layer, head, merged) {
    if (!merged) return this.tokenLinks(layer, head);
    return this.remembered(`word links ${layer} ${head}`, () => this.wordUnits.map((word, index) => {
      const sums = new Map();
      if (this.block === 1) {
        const { value, columns } = this.wordCells(layer, head);
        for (let j = 0; j < columns; ++j) sums.set(j, value(index, j));
      } else {
        for (const links of this.tokenLinks(layer, head).slice(word.first, word.first + word.count)) {
          for (const { key, weight } of links) {
            sums.set(this.wordOf[key], (sums.get(this.wordOf[key]) ?? 0) + weight / word.count);
          }
        }
      }
      return [...sums].map(([key, weight]) => ({ key, weight })).sort((a, b) => b.weight - a.weight).slice(0, this.links);
    }));
  }

  // All that is known of where a unit looks, or, with toward, of who looks at it: pairs {key, weight}.
  lines(layer, head, merged, unit, toward) {
    if (this.hasFull(layer, head) && !(merged && this.block > 1)) {
      const { value, rows } = this.cells(layer, head, merged);
      return Array.from({ length: rows }, (_, key) => ({ key, weight: toward ? value(key, unit) : value(unit, key) }));
    }
    const links = this.unitLinks(layer, head, merged);
    if (!toward) return links[unit];
    return links.flatMap((row, key) => row.filter((link) => link.key === unit).map(({ weight }) => ({ key, weight })));
  }
}
