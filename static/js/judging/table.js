// Windows of a big table: its links bring another window in place, without leaving the page. After each turn the new window
// says so (`document:window`). Two keys scroll a wide table (`data-table-scroll`), and at its edge bring the next window;
// arrow keys scroll a table that has the focus, as browsers do by themselves.
const WINDOW = ".document__window";

// Fetches a window and puts it in the place of another; throws if it cannot be had.
export async function turn(place, address) {
  const fresh = await fetched(address);
  put(place, fresh);
  return fresh;
}

export async function fetched(address) {
  const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(30_000) });
  if (!answer.ok || answer.redirected) throw new Error(`${answer.status} ${answer.url}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return document.adoptNode(page.querySelector(WINDOW));
}

export function put(place, fresh) {
  const before = place.querySelector(".document__table");
  const [top, left] = [before.scrollTop, before.scrollLeft];
  place.replaceWith(fresh);
  // Downward one stays in the same columns, sideways in the same rows.
  const table = fresh.querySelector(".document__table");
  if (fresh.dataset.row === place.dataset.row) table.scrollTop = top;
  if (fresh.dataset.column === place.dataset.column) table.scrollLeft = left;
  fresh.dispatchEvent(new CustomEvent("document:window", { bubbles: true }));
}

// The address of a window, with what else is asked of it.
export function address(place, values = {}) {
  const query = new URLSearchParams({ row: place.dataset.row, column: place.dataset.column, ...values });
  return `${place.dataset.window}?${query}`;
}

// Says that a window cannot be had now, where its place is said otherwise.
export function sayFailed(place) {
  const bar = place.querySelector(".window-bar");
  bar.querySelector("[role=status]").textContent = bar.dataset.failed;
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
    const fresh = await turn(place, link.href);
    // Whoever goes on by keyboard presses the same again, or at the end of the table reads it.
    (fresh.querySelector(`[data-turn=${link.dataset.turn}][href]`) ?? fresh.querySelector(".document__table")).focus({ preventScroll: true });
  } catch {
    sayFailed(place);
  }
});
