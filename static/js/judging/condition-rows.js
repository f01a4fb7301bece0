// The rows of conditions, or of the two questions of a check. One row is current: its keys answer it, an answer moves to the
// next open one, and the arrow keys and the buttons move to any. `enter` is what Enter does on a radio button.
export const answer = (row) => row.querySelector("input:checked")?.value ?? null;
export const open = (row) => answer(row) === null;

export function conditionRows(strip, enter) {
  const rows = [...strip.querySelectorAll("[data-condition]")];
  const spoken = strip.querySelector("[data-conditions-spoken]");
  const words = (name, values = {}) => strip.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const current = () => rows.findIndex((row) => "current" in row.dataset);
  const rowOf = (event) => event.target.closest("[data-condition]");

  function go(index, speak = true) {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
    for (const other of rows) delete other.dataset.current;
    row.dataset.current = "";
    // Scroll only their own frame: the page itself must not move.
    const frame = row.parentElement;
    const [inner, outer] = [row.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollTop += Math.min(0, inner.top - outer.top) + Math.max(0, inner.bottom - outer.bottom);
    if (speak) spoken.textContent = words("openSpoken", { number: rows.indexOf(row) + 1, text: row.querySelector("bdi").textContent });
  }

  function goToOpen(speak = true) {
    go(Math.max(0, rows.findIndex(open)), speak);
  }

  // With the arrow keys inside a row of radios the focus stays where it is.
  function goOn(row, speak = true) {
    if (row.contains(document.activeElement)) return;
    const here = rows.indexOf(row);
    const next = rows.findIndex((other, index) => index > here && open(other));
    go(next >= 0 ? next : rows.some(open) ? rows.findIndex(open) : here, speak);
  }

  strip.addEventListener("focusin", (event) => {
    const row = rowOf(event);
    if (row && !("current" in row.dataset)) go(rows.indexOf(row), false);
  });

  strip.addEventListener("click", (event) => {
    const row = rowOf(event);
    const step = event.target.closest("[data-conditions-step]");
    if (step) go(current() + Number(step.dataset.conditionsStep));
    else if (row) go(rows.indexOf(row), false);
  });

  // On a radio button the browser would handle these keys itself.
  strip.addEventListener("keydown", (event) => {
    if (!event.target.matches("input") || event.isComposing) return;
    if (event.key === "Enter") enter();
    else if (event.key === "ArrowUp") go(current() - 1);
    else if (event.key === "ArrowDown") go(current() + 1);
    else return;
    event.preventDefault();
    if (event.key !== "Enter") event.target.blur();
  });

  for (const step of strip.querySelectorAll("[data-conditions-step]")) step.hidden = false;
  return { rows, spoken, words, rowOf, goToOpen, goOn };
}
