// Counts ticks as one sets them: in `[data-tally]` the number of ticked boxes goes into `[data-tally-count]`, their share
// into `[data-tally-share]`, and `[data-tally-bar]` grows with it.
for (const root of document.querySelectorAll("[data-tally]")) {
  const update = () => {
    const boxes = [...root.querySelectorAll("input[type=checkbox]")];
    const count = boxes.filter((box) => box.checked).length;
    const share = boxes.length ? count / boxes.length : 0;
    root.querySelector("[data-tally-count]").textContent = count;
    root.querySelector("[data-tally-share]").textContent = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" }).format(share);
    root.querySelector("[data-tally-bar]")?.setAttribute("width", (100 * share).toFixed(2));
  };
  root.addEventListener("input", update);
  update();
}
