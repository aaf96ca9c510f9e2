// Set the address of Streamlit's server and the frames that may embed it: otherwise its script makes two
// failing requests for the first, and one for the second before it connects.
window.__streamlit = {
  BACKEND_BASE_URL: new URL("./", document.currentScript.src).href,
  HOST_CONFIG: { allowedOrigins: [location.origin], useExternalAuthToken: false, enableCustomParentMessages: false },
};

// Choices on the board are links to the same page: we change the address, and Streamlit shows the new page as it
// does after the back button.
const inOrder = (bodies, at, falling) => {
  const value = (body) => body.rows[0].cells[at].dataset.value;
  const known = bodies.filter((body) => value(body) !== undefined);
  const numbers = known.every((body) => Number.isFinite(Number(value(body))));
  const compare = (one, other) =>
    numbers ? Number(value(one)) - Number(value(other)) : value(one).localeCompare(value(other));
  known.sort((one, other) => (falling ? -1 : 1) * compare(one, other));
  return [...known, ...bodies.filter((body) => value(body) === undefined)];
};

// Sort the rows immediately and update the address; the default order, by rank, comes from the server.
const sortBy = (link, wanted) => {
  const heading = link.closest("th");
  const table = heading.closest("table");
  const turned = wanted.startsWith("-");
  const falling = (heading.dataset.falling === "yes") !== turned;
  table.append(...inOrder([...table.tBodies], heading.cellIndex, falling));
  table.classList.add("aa-by-column");
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
  history.replaceState(history.state, "", link.href);
  const next = new URL(link.href);
  next.searchParams.set("sort", turned ? wanted.slice(1) : `-${wanted}`);
  link.href = next.href;
};

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  for (const menu of document.querySelectorAll(".aa-menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
  const link = target?.closest(":is(.aa-boardpage, .aa-tabs, .aa-top) a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const to = new URL(link.href);
  const wanted = link.matches(".aa-sort") ? to.searchParams.get("sort") : null;
  if (wanted && wanted !== "-rank") {
    event.preventDefault();
    sortBy(link, wanted);
  } else if (to.pathname === location.pathname && !to.hash && link.closest("#root")) {
    event.preventDefault();
    history.pushState(history.state, "", to);
    dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
  }
});

// Load the details of a row when it is expanded.
document.addEventListener("toggle", async ({ target }) => {
  const { from } = target.dataset;
  if (!target.open || !from) return;
  delete target.dataset.from;
  const answer = await fetch(from).catch(() => null);
  target.insertAdjacentHTML("beforeend", answer?.ok ? await answer.text() : '<p class="aa-note" role="alert">The details could not be loaded. Click the name to open the page of the system.</p>');
}, true);

// Filter the rows while the reader types.
const find = (input) => {
  const words = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const page = input.closest(".aa-boardpage");
  const rows = [...page.querySelectorAll(".aa-standings > tbody")];
  for (const row of rows) {
    const name = row.querySelector("th a").textContent.toLocaleLowerCase();
    row.hidden = !words.every((word) => name.includes(word));
  }
  const systems = rows.filter((row) => row.matches(".aa-entrant"));
  const left = systems.filter((row) => !row.hidden).length;
  page.classList.toggle("aa-found", words.length > 0);
  page.querySelector(".aa-none").textContent = words.length ? `${left} of ${systems.length} systems` : "";
  const to = new URL(location.href);
  if (words.length) to.searchParams.set("find", input.value); else to.searchParams.delete("find");
  history.replaceState(history.state, "", to);
};
document.addEventListener("input", (event) => {
  if (event.target.matches?.(".aa-find input")) find(event.target);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches?.(".aa-find")) return;
  // The server omitted rows that do not match the address, so fewer words need another request.
  event.preventDefault();
  dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
});

// Correct ARIA roles of Streamlit: the file box is marked as presentational but has a name, and the narrow
// navigation has menus inside a list and list items outside any list.
const ROLES = {
  "section[role=presentation][aria-label]": "group",
  "[data-testid=stSidebarNavItems]": "group",
  "[data-testid=stSidebarNavItems] li": "none",
};
const NAMES = { "[data-testid=stExpandSidebarButton]": "Menu" };
const MENDED = [...Object.keys(ROLES), ...Object.keys(NAMES)].join();
const mend = (root) => {
  if (!root.querySelector || !(root.matches(MENDED) || root.querySelector(MENDED))) return;
  for (const [wrong, role] of Object.entries(ROLES)) {
    if (root.matches(wrong)) root.setAttribute("role", role);
    root.querySelectorAll(wrong).forEach((node) => node.setAttribute("role", role));
  }
  for (const [button, name] of Object.entries(NAMES)) {
    root.parentElement?.querySelectorAll(button).forEach((node) => node.setAttribute("aria-label", name));
  }
};

// Move the first view of the document into the page once that is complete, so that it is not sent twice; a
// cookie tells the server that the browser has it. The scroll position is kept.
const BEGUN = "arena_begun";
const tell = (view, seconds) => { document.cookie = `${BEGUN}=${view}; max-age=${seconds}; samesite=strict`; };
let told = false;
const placeOf = () => document.querySelector("#root [class*='st-key-view-'] .stText:not([data-filled])");
const isWhole = () => (placeOf() || document.querySelector("#root .aa-footer")) && !document.querySelector("#root [data-testid=stSkeleton]");
const giveWay = () => {
  const first = document.getElementById("first-view");
  if (first && !told) tell(first.dataset.view, 60);
  told ||= first !== null;
  if (!isWhole()) return;
  document.documentElement.dataset.whole = "";
  const place = placeOf();
  if (place && !place.closest(`.st-key-view-${first?.dataset.view}`)) {
    tell("", 0);
    location.reload();
  } else if (first) {
    const scrolled = first.scrollTop;
    if (place) {
      place.dataset.filled = "";
      place.append(...first.firstElementChild.children);
    }
    first.remove();
    if (scrolled) document.querySelector("[data-testid=stMain]").scrollTop = scrolled;
    tell("", 0);
  }
};

// Scroll to the "#" anchor of the address once it exists, unless the reader has already interacted.
let sought = decodeURIComponent(location.hash.slice(1));
for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"]) {
  addEventListener(kind, () => { sought = ""; }, { once: true, passive: true });
}
const goToPart = () => {
  if (!sought || !isWhole()) return;
  document.getElementById(sought)?.scrollIntoView();
  sought = "";
};

new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) {
    // Skip our own tables: they are correct and have thousands of nodes.
    if (!target.closest?.("#first-view, .stHtml, .stText")) addedNodes.forEach(mend);
  }
  giveWay();
  goToPart();
}).observe(document, { childList: true, subtree: true });

// Apply the theme chosen in Streamlit's menu to the first view too.
try {
  const chosen = localStorage.getItem(`stActiveTheme-${location.pathname}-v2`) ?? "";
  const look = ["Light", "Dark"].find((name) => chosen.includes(name));
  if (look) document.documentElement.dataset.look = look.toLowerCase();
} catch {
  // Without local storage, use the system's theme.
}
