// Measures the layout of a page as its reader sees it.
// Returns one sentence per fault, with the element at fault; an empty list if there are none.
const faults = [];
const wide = document.documentElement.clientWidth;
const main = document.querySelector("[data-testid=stMain]") || document.documentElement;
const shown = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
const style = (node) => getComputedStyle(node);
const words = (text) => text.replace(/\s+/g, " ").trim();
const place = (node) => {
  const parts = [];
  for (let at = node; at && at !== document.body && parts.length < 4; at = at.parentElement) {
    const id = at.getAttribute("data-testid");
    const mark = id ? `[data-testid=${id}]` : [...at.classList].filter((c) => /^(aa-|st[A-Z-])/.test(c)).map((c) => `.${c}`).join("");
    if (mark || at === node) parts.unshift(at.tagName.toLowerCase() + mark);
  }
  return parts.join(" > ");
};
const fault = (kind, node, text = "") => faults.push(`${kind}: ${place(node)}${text ? ` “${words(text).slice(0, 60)}”` : ""}`);
// Text for screen readers only is clipped to a point on purpose.
const unseen = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const its = style(at);
    if (its.clipPath.startsWith("inset(") || its.clip.startsWith("rect(0") || its.clip.startsWith("rect(1")) return true;
    if (its.position !== "static" && at.clientWidth <= 1 && at.clientHeight <= 1) return true;
  }
  return false;
};
const floating = (node) => {
  for (let at = node; at; at = at.parentElement) if (["fixed", "sticky"].includes(style(at).position)) return at;
  return null;
};

if (main.scrollWidth > main.clientWidth) fault(`scrolls sideways by ${main.scrollWidth - main.clientWidth} px`, main);

const lines = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const parent = node.parentElement;
  if (!words(node.data) || !parent || parent.closest("script, style, noscript, title, textarea, .katex-mathml, option")) continue;
  if (!shown(parent) || unseen(parent)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const rect of range.getClientRects()) {
    if (rect.width > 1 && rect.height > 1) lines.push({ node, parent, rect });
  }
}
const reported = new Set();
for (const { node, parent, rect } of lines) {
  if (reported.has(node)) continue;
  let scrolls = false;
  for (let at = parent; at && at !== main && at !== document.body; at = at.parentElement) {
    const its = style(at);
    if (its.display === "inline" || its.display === "contents") continue;
    const box = at.getBoundingClientRect();
    const across = rect.right > box.right + 1.5 || rect.left < box.left - 1.5;
    const down = rect.bottom > box.bottom + rect.height / 3 || rect.top < box.top - rect.height / 3;
    const shortened = its.textOverflow === "ellipsis" || its.webkitLineClamp !== "none";
    if (["auto", "scroll"].includes(its.overflowX) && at.scrollWidth > at.clientWidth) { scrolls = true; break; }
    if (["auto", "scroll"].includes(its.overflowY) && at.scrollHeight > at.clientHeight) { scrolls = true; break; }
    if (shortened && (across || down)) { scrolls = true; break; }
    if ((["hidden", "clip"].includes(its.overflowX) && across) || (["hidden", "clip"].includes(its.overflowY) && down)) {
      fault("text is cut off", parent, node.data);
      reported.add(node);
      scrolls = true;
      break;
    }
  }
  // The link that skips the navigation stays outside the window until it has the focus.
  if (parent.closest("a[href^='#']") && (rect.bottom < 0 || rect.right < 0)) scrolls = true;
  if (!scrolls && (rect.right > wide + 1 || rect.left < -1)) {
    fault("is outside the window", parent, node.data);
    reported.add(node);
  }
  node.scrolled = scrolls;
}
const still = lines.filter(({ node, parent }) => !node.scrolled && !floating(parent));
still.sort((one, other) => one.rect.top - other.rect.top);
for (let first = 0; first < still.length; first += 1) {
  for (let second = first + 1; second < still.length; second += 1) {
    const [one, other] = [still[first], still[second]];
    if (other.rect.top > one.rect.bottom) break;
    if (one.node === other.node || reported.has(other.node)) continue;
    const across = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
    const down = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
    if (across > 3 && down > 0.45 * Math.min(one.rect.height, other.rect.height)) {
      fault(`overlaps “${words(one.node.data).slice(0, 40)}”`, other.parent, other.node.data);
      reported.add(other.node);
    }
  }
}

for (const chart of document.querySelectorAll("[data-testid=stVegaLiteChart], .vega-embed")) {
  if (!shown(chart) || chart.parentElement.closest("[data-testid=stVegaLiteChart]")) continue;
  const drawn = [...chart.querySelectorAll("svg .role-mark :is(path, line, text, image, rect)")];
  const painted = [...chart.querySelectorAll("canvas")].some((canvas) => {
    if (!canvas.width || !canvas.height) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    // Axes and their labels are grey; the data is drawn in colour.
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue, alpha] = data.slice(at, at + 4);
      if (alpha > 60 && Math.max(red, green, blue) - Math.min(red, green, blue) > 40) return true;
    }
    return false;
  });
  if (!painted && !drawn.some((mark) => mark.getBoundingClientRect().width + mark.getBoundingClientRect().height > 0)) {
    fault("a chart without marks", chart);
  }
}
for (const table of document.querySelectorAll("table")) {
  if (shown(table) && !table.querySelector("tbody tr, tr td")) fault("a table without rows", table, table.caption?.textContent || "");
}
for (const table of document.querySelectorAll(".aa-standings")) {
  const ranks = [...table.querySelectorAll(".aa-rank")].filter((rank) => shown(rank) && style(rank).textAlign === "right");
  const ends = ranks.map((rank) => rank.getBoundingClientRect().right);
  if (Math.max(...ends) - Math.min(...ends) > 1) fault("ranks that do not align", table);
}
for (const image of document.images) {
  if (shown(image) && image.complete && !image.naturalWidth) fault("an image that did not load", image, image.src);
}
for (const button of document.querySelectorAll("button, a[href], summary, [role=button]")) {
  if (!shown(button)) continue;
  const named = (button.getAttribute("aria-labelledby") || "").split(/\s+/).map((id) => document.getElementById(id)?.textContent || "");
  const pictures = [...button.querySelectorAll("img[alt], [aria-label], svg title")].map((one) => one.getAttribute("alt") || one.getAttribute("aria-label") || one.textContent);
  // The text of an icon's ligature is not a name.
  const own = button.cloneNode(true);
  own.querySelectorAll("[data-testid=stIconMaterial], [aria-hidden=true]").forEach((icon) => icon.remove());
  const name = [own.textContent, button.getAttribute("aria-label"), button.title, ...named, ...pictures].join(" ");
  if (!words(name)) fault("a button without a name", button);
}
return faults;
