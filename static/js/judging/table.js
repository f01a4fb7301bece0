// Windows of a big table: its links replace the window in place, without leaving the page. The new window then dispatches
// `document:window`. Two keys scroll a wide table (`data-table-scroll`), and at its edge show the next window. The keys that
// scroll a page bring the table of a document into view, then scroll it, then the page; a line below it says how many rows and columns
// are out of sight.
const WINDOW = ".document__window";

// Fetches a window and replaces another with it; throws if it cannot be fetched.
export async function loadWindow(place, url) {
  const fresh = await fetchWindow(place, url);
  replaceWindow(place, fresh);
  return fresh;
}

// Fetches a window; throws also if the document has another text by now: one answer must not be about two texts.
export async function fetchWindow(place, url) {
  const answer = await fetch(url, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(30_000) });
  if (!answer.ok || answer.redirected) throw new Error(`${answer.status} ${answer.url}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector(WINDOW);
  place.dataset.isOld = fresh.dataset.textVersion === place.dataset.textVersion ? "" : "yes";
  if (place.dataset.isOld) throw new Error("The document has another text.");
  return document.adoptNode(fresh);
}

export function replaceWindow(place, fresh) {
  const before = place.querySelector(".document__table");
  const [top, left] = [before.scrollTop, before.scrollLeft];
  place.replaceWith(fresh);
  // Moving down keeps the columns, moving sideways keeps the rows.
  const table = fresh.querySelector(".document__table");
  if (fresh.dataset.row === place.dataset.row) table.scrollTop = top;
  if (fresh.dataset.column === place.dataset.column) table.scrollLeft = left;
  fresh.dispatchEvent(new CustomEvent("document:window", { bubbles: true }));
}

// The URL of a window, with further query parameters.
export function windowUrl(place, values = {}) {
  const query = new URLSearchParams({ row: place.dataset.row, column: place.dataset.column, ...values });
  return `${place.dataset.window}?${query}`;
}

// Shows why a window cannot be fetched, in place of its position.
export function sayFailed(place) {
  const { failed, replaced } = place.querySelector(".window-bar").dataset;
  place.querySelector("[role=status]").textContent = place.dataset.isOld ? replaced : failed;
}

function scroll(article, way) {
  const table = article.querySelector(".document__table");
  const before = table.scrollLeft;
  const ahead = getComputedStyle(table).direction === "rtl" ? -way : way;
  table.scrollBy({ left: ahead * table.clientWidth * 0.8, behavior: "instant" });
  if (table.scrollLeft === before) article.querySelector(`[data-turn=${way > 0 ? "behind" : "before"}][href]`)?.click();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-table-scroll]");
  if (button) scroll(button.closest(".document"), Number(button.dataset.tableScroll));
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest(".window-bar a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const place = link.closest(WINDOW);
  try {
    const fresh = await loadWindow(place, link.href);
    // Keep the focus for the keyboard: on the same link or, at the end of the table, on the table.
    (fresh.querySelector(`[data-turn=${link.dataset.turn}][href]`) ?? fresh.querySelector(".document__table")).focus({ preventScroll: true });
  } catch {
    sayFailed(place);
  }
});

// --- the keys of the page, and what is out of sight -------------------------------------------------

const FIELDS = "textarea, select, input:not([type=radio], [type=checkbox]), [contenteditable]";
const LINE = 40;
const LEAST = 144;
const MARGIN = 16;
const tables = () => [...document.querySelectorAll(".judge .document__table")];
// The table that the keys of the page scroll: the first that the reader has not passed.
const ahead = () => tables().find((table) => table.getBoundingClientRect().bottom > 0);

// By how much a key scrolls a table of this height; undefined for other keys.
function stepOf({ key, shiftKey }, height) {
  if (key === " ") return (shiftKey ? -0.9 : 0.9) * height;
  return { PageDown: 0.9 * height, PageUp: -0.9 * height, ArrowDown: LINE, ArrowUp: -LINE, End: Infinity, Home: -Infinity }[key];
}

// How far the page must scroll down until all of the table is above the bar; negative: up, until its top is in view.
function outOfView(table) {
  const { top } = table.getBoundingClientRect();
  const { bottom } = table.closest(WINDOW).getBoundingClientRect();
  return top < 0 ? top : Math.max(0, Math.min(bottom + MARGIN - barTop(), top));
}

document.addEventListener("keydown", (event) => {
  const table = ahead();
  if (!table || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.target.matches(FIELDS) || event.target.closest("dialog")) return;
  if (event.key === " " && event.target.matches("button, summary, input")) return;
  if (event.target.matches("input, [role=region], [role=group]")) return;
  const step = stepOf(event, table.clientHeight - (table.querySelector("thead")?.offsetHeight ?? 0));
  if (step === undefined) return;
  const away = outOfView(table);
  const before = [table.scrollTop, scrollY];
  if (Math.sign(away) === Math.sign(step)) scrollBy({ top: Math.sign(away) * Math.min(Math.abs(away), Math.abs(step)), behavior: "instant" });
  else table.scrollTop = Number.isFinite(step) ? before[0] + step : step > 0 ? table.scrollHeight : 0;
  // At the end of the table the page scrolls.
  if (table.scrollTop !== before[0] || scrollY !== before[1]) event.preventDefault();
});

function sayMore(table) {
  const line = table.closest(WINDOW).querySelector("[data-table-more]");
  const edge = table.getBoundingClientRect();
  const rows = [...table.querySelectorAll("tbody > tr")].filter((row) => row.getBoundingClientRect().bottom > edge.bottom + 1).length;
  const cells = [...(table.querySelector("tr")?.cells ?? [])];
  const columns = cells.filter((cell) => cell.getBoundingClientRect().right > edge.right + 1 || cell.getBoundingClientRect().left < edge.left - 1).length;
  const words = (count, one, many) => (count ? line.dataset[count === 1 ? one : many].replace("{count}", count) : "");
  line.textContent = [words(rows, "row", "rows"), words(columns, "column", "columns")].filter(Boolean).join(" · ");
}

const bar = document.querySelector(".judge__bar");
// Where the part of the window ends that the bar does not cover.
const barTop = () => innerHeight - (bar && getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0);

// Gives a table the height between its title and the bar, however high they are. Where that is little, as below the answers of a
// disagreement, a narrative on a phone or other rows of a list, it gets the height of the window above the bar.
function fit(table) {
  const { top } = table.getBoundingClientRect();
  const below = table.closest(WINDOW).querySelector("[data-table-more]").offsetHeight + MARGIN;
  const whole = barTop() - below;
  const left = whole - top - scrollY;
  table.style.maxBlockSize = `${left < LEAST ? whole - MARGIN : left}px`;
}

if (document.querySelector(".judge")) {
  const arrange = () => {
    for (const table of tables()) {
      fit(table);
      sayMore(table);
    }
  };
  document.addEventListener("scroll", ({ target }) => target.matches?.(".judge .document__table") && sayMore(target), { capture: true, passive: true });
  for (const event of ["judge:document", "document:window", "htmx:load"]) document.addEventListener(event, arrange, true);
  addEventListener("resize", arrange);
  if (bar) new ResizeObserver(arrange).observe(bar);
}
