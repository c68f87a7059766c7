// The state of a page in its address, "#view=map&layer=3": a reload or a link shows the same again.

const kAddressDelay = 200; // browsers refuse pages that change their address too often

export class Address {
  // fields: {name: {get() -> string or null to leave it out, set(string)}}; set ignores what it does not know.
  // changed() is called after somebody else has written another address.
  constructor(fields, changed) {
    this.fields = fields;
    this.read();
    window.addEventListener("hashchange", () => {
      if (window.location.hash === this.text()) return;
      this.read();
      changed();
    });
  }

  read() {
    const found = new URLSearchParams(window.location.hash.slice(1));
    for (const [name, { set }] of Object.entries(this.fields)) if (found.has(name)) set(found.get(name));
  }

  text() {
    const parts = new URLSearchParams();
    for (const [name, { get }] of Object.entries(this.fields)) if (get() !== null) parts.set(name, get());
    return `#${parts}`;
  }

  write() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => window.history.replaceState(null, "", this.text()), kAddressDelay);
  }
}

// The index that a text counted from 1 names; undefined if there is none below count.
export function indexNamed(text, count) {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= count ? number - 1 : undefined;
}
