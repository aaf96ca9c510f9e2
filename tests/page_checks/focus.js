// What a keyboard reaches: whether the focus can be seen on it, and whether a term's meaning then appears.
// The focus is moved as by a key, so the page must have had one before.
const faults = [];
const wide = document.documentElement.clientWidth;
const main = document.querySelector("[data-testid=stMain]") || document.body;
const called = (node) => `${node.tagName.toLowerCase()} “${(node.getAttribute("aria-label") || node.textContent).replace(/\s+/g, " ").trim().slice(0, 50)}”`;
const outlined = (node) => {
  const its = getComputedStyle(node);
  return its.outlineStyle !== "none" && parseFloat(its.outlineWidth) >= 2;
};
const reachable = "a[href], button, input, textarea, select, summary, [tabindex]:not([tabindex='-1'])";
const nodes = [...document.querySelectorAll(reachable)].filter((node) => node.checkVisibility() && !node.disabled);
for (const node of nodes) {
  node.focus({ preventScroll: true });
  if (document.activeElement !== node) continue;
  let seen = false;
  for (let at = node, up = 0; at && up < 5; at = at.parentElement, up += 1) seen ||= outlined(at);
  if (!seen) faults.push(`the focus cannot be seen on ${called(node)}`);
  const tip = node.querySelector(":scope > .aa-tip");
  if (!tip) continue;
  const box = tip.getBoundingClientRect();
  if (!box.width || !box.height) faults.push(`the meaning of ${called(node)} does not appear`);
  else if (main.contains(node) && (box.left < -1 || box.right > wide + 1)) faults.push(`the meaning of ${called(node)} leaves the window`);
}
for (const term of document.querySelectorAll(".aa-term")) {
  if (term.checkVisibility() && term.tabIndex < 0) faults.push(`no keyboard reaches the meaning of ${called(term)}`);
}
for (const help of document.querySelectorAll("[data-testid=stTooltipIcon]")) {
  if (help.checkVisibility() && !help.querySelector("button, [tabindex='0']")) faults.push(`no keyboard reaches the help of ${called(help.parentElement)}`);
}
for (const titled of main.querySelectorAll("[title]")) {
  // A title that repeats the words is there for where they are shortened; that of a single sign, such as a dash,
  // says again what the words around the table say of all of them.
  if (titled.textContent.trim().length === 1) continue;
  if (titled.title !== titled.textContent.trim() && titled.checkVisibility() && titled.tabIndex < 0 && !titled.closest("svg, iframe")) faults.push(`only a mouse finds the title of ${called(titled)}`);
}
if (document.activeElement) document.activeElement.blur();
return faults;
