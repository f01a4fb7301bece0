// Rows of conditions or questions, one of which is current: its keys answer it and move to the next open one. For the judge
// page and the page of a check; without a script the rows are ordinary radio buttons. `changed` is called after each answer and
// may return a sentence to speak; `enter` is called for Enter on a radio button.
export function conditionRows(strip, { changed, enter }) {
  const rows = [...strip.querySelectorAll("[data-condition]")];
  const spoken = strip.querySelector("[data-conditions-spoken]");
  const words = (name, values = {}) => strip.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const answer = (row) => row.querySelector("input:checked")?.value ?? null;
  const open = (row) => answer(row) === null;
  const current = () => rows.findIndex((row) => "current" in row.dataset);

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

  function drawSum() {
    const met = rows.filter((row) => answer(row) === (strip.dataset.counts ?? "met")).length;
    strip.querySelector("[data-conditions-sum]").textContent = words("sum", { met, total: rows.length });
  }

  strip.addEventListener("change", (event) => {
    const row = event.target.closest("[data-condition]");
    if (!row) return;
    const sentence = changed();
    const here = rows.indexOf(row);
    const next = rows.findIndex((other, index) => index > here && open(other));
    // With the arrow keys inside a row of radios the focus stays where it is; a click or a tap leaves none there.
    const isByArrows = row.querySelector(":focus-visible") !== null;
    if (!isByArrows && row.contains(document.activeElement)) document.activeElement.blur();
    if (!isByArrows) go(next >= 0 ? next : rows.some(open) ? rows.findIndex(open) : here, !sentence);
    if (sentence) spoken.textContent = sentence;
  });

  strip.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-condition]");
    if (row && !("current" in row.dataset)) go(rows.indexOf(row), false);
  });

  strip.addEventListener("click", (event) => {
    const row = event.target.closest("[data-condition]");
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
  return { rows, spoken, words, answer, open, go, drawSum };
}
