// Rows answered by keys, one after another. In `[data-rows]` one `[data-row]` is current: its keys work (see keys.js)
// and its `[data-definition]` is shown. An answer moves to the next open row; one that needs words moves to their field
// first, and Enter or Escape moves on from there.
for (const root of document.querySelectorAll("[data-rows]")) {
  const rows = [...root.querySelectorAll("[data-row]")];
  const current = () => rows.findIndex((row) => "current" in row.dataset);

  function go(index, scroll = true) {
    const row = rows[Math.max(0, Math.min(index, rows.length - 1))];
    for (const other of rows) delete other.dataset.current;
    row.dataset.current = "";
    for (const definition of root.querySelectorAll("[data-definition]")) definition.hidden = definition.dataset.definition !== row.dataset.row;
    if (scroll) row.scrollIntoView({ block: "nearest" });
  }

  const open = (row) => !row.querySelector("input:checked");

  function goOn(here, otherwise) {
    const next = rows.findIndex((row, index) => index > here && open(row));
    go(next >= 0 ? next : rows.some(open) ? rows.findIndex(open) : here + otherwise);
  }

  root.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-row]");
    if (row) go(rows.indexOf(row));
  });
  root.addEventListener("change", (event) => {
    const row = event.target.closest("[data-row]");
    if (!row || !event.target.matches("[type=radio]")) return;
    const words = row.querySelector("textarea");
    if (words?.checkVisibility() && !words.value.trim()) return words.focus();
    // With the arrow keys inside a row of radios the focus stays where it is.
    if (!row.contains(document.activeElement)) goOn(rows.indexOf(row), 0);
  });
  // If no row is open any more, move from the words to the row below: the next key must not replace the level they explain.
  root.addEventListener("keydown", (event) => {
    if (!event.target.matches("[data-row] textarea") || event.isComposing || event.keyCode === 229) return;
    if (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.target.blur();
    goOn(rows.indexOf(event.target.closest("[data-row]")), 1);
  });
  root.addEventListener("click", (event) => {
    const step = event.target.closest("[data-row-step]");
    if (step) go(current() + Number(step.dataset.rowStep));
  });
  // Answers were added from this browser's journal (see review.js): start at the first row that is still open.
  root.addEventListener("rows:refresh", () => go(Math.max(0, rows.findIndex(open)), false));
  go(Math.max(0, rows.findIndex(open)), false);
}
