// Remembers the reading position in each document, and restores it when the document is shown again; a new document begins
// at its start. For a long text the visible part is remembered, because the height of parts that were never laid out is only
// estimated; for a big table also its window. Kept as long as the tab is open, for the last 200 documents.
import { loadWindow, windowUrl } from "./table.js";

const KEPT = "rejudge.places";
const MOST = 200;
const root = document.querySelector(".judge");

if (root) {
  const places = new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"));
  let candidate = null;
  let documentView = null;
  let waiting = false;

  history.scrollRestoration = "manual";

  // The part at the upper edge of the window, and the position of its top.
  function part() {
    const parts = documentView.querySelectorAll(".document__part");
    let low = 0;
    let high = parts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (parts[middle].getBoundingClientRect().bottom <= 0) low = middle + 1;
      else high = middle;
    }
    return parts.length ? { part: low, above: parts[low].getBoundingClientRect().top } : {};
  }

  function note() {
    waiting = false;
    // The document may have been replaced; then the scroll position belongs to another one.
    if (!documentView?.isConnected) return;
    const table = documentView.querySelector(".document__table");
    const { row, column } = documentView.querySelector("[data-window]")?.dataset ?? {};
    const here = { y: scrollY, ...(scrollY ? part() : {}), ...(table && { top: table.scrollTop, left: table.scrollLeft, row, column }) };
    places.delete(candidate);
    if (here.y || here.top || here.left || Number(row) > 1 || Number(column) > 1) places.set(candidate, here);
    if (places.size > MOST) places.delete(places.keys().next().value);
  }

  function soon() {
    if (!waiting) requestAnimationFrame(note);
    waiting = true;
  }

  async function restore() {
    const here = places.get(candidate);
    if (!here) return;
    const [of, place] = [documentView, documentView.querySelector("[data-window]")];
    if (place && here.row && (here.row !== place.dataset.row || here.column !== place.dataset.column)) {
      try {
        await loadWindow(place, windowUrl(place, { row: here.row, column: here.column }));
      } catch {
        // The first window is shown, and its links report that the server cannot be reached.
        return;
      }
      if (documentView !== of || !of.isConnected) return;
    }
    scroll(here);
    // Scroll again once parts with an estimated height are laid out.
    if (here.part !== undefined) requestAnimationFrame(() => documentView === of && scroll(here));
  }

  function scroll(here) {
    const table = documentView.querySelector(".document__table");
    if (table) Object.assign(table, { scrollTop: here.top, scrollLeft: here.left });
    const anchor = documentView.querySelectorAll(".document__part")[here.part];
    if (!anchor) return scrollTo(0, here.y);
    scrollBy(0, anchor.getBoundingClientRect().top - here.above);
  }

  root.addEventListener("judge:document", ({ detail }) => {
    ({ candidate, documentView } = detail);
    restore();
  });
  // Also elements that scroll within the document.
  document.addEventListener("scroll", soon, { capture: true, passive: true });
  document.addEventListener("document:window", soon);
  addEventListener("pagehide", () => sessionStorage.setItem(KEPT, JSON.stringify([...places])));
}
