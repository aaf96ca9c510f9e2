// Checks whether the focus is visible on each element that a keyboard reaches, and whether a term's definition then appears.
// Browsers show the focus ring only after a key press, so press a key on the page first.
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
  if (!seen) faults.push(`the focus is invisible on ${called(node)}`);
  const tip = node.querySelector(":scope > .aa-tip");
  if (!tip) continue;
  const box = tip.getBoundingClientRect();
  if (!box.width || !box.height) faults.push(`the definition of ${called(node)} does not appear`);
  else if (main.contains(node) && (box.left < -1 || box.right > wide + 1)) faults.push(`the definition of ${called(node)} overflows the window`);
}
for (const term of document.querySelectorAll(".aa-term")) {
  if (term.checkVisibility() && term.tabIndex < 0) faults.push(`the definition of ${called(term)} is unreachable by keyboard`);
}
for (const help of document.querySelectorAll("[data-testid=stTooltipIcon]")) {
  if (help.checkVisibility() && !help.querySelector("button, [tabindex='0']")) faults.push(`the help of ${called(help.parentElement)} is unreachable by keyboard`);
}
for (const titled of main.querySelectorAll("[title]")) {
  // A title that repeats its text matters only where the text is truncated; the title of a single character, such as a dash,
  // repeats what the text around the table says about all of them.
  if (titled.textContent.trim().length === 1) continue;
  if (titled.title !== titled.textContent.trim() && titled.checkVisibility() && titled.tabIndex < 0 && !titled.closest("svg, iframe")) faults.push(`only a mouse shows the title of ${called(titled)}`);
}
if (document.activeElement) document.activeElement.blur();
return faults;
