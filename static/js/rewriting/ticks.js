// The documents that would drop out. The ticks of the whole list are in `<script id="drops">`; the page shows a part of the
// list (`input[name=drop]`), and `[data-tally]` shows the share of ticked documents in `[data-tally-line]`.
// `ticked()` returns the keys, `tick(keys)` sets them; the document gets the event `rewrite:ticked` when a person ticks.
const root = document.querySelector("[data-tally]");
const total = Number(root?.dataset.tally ?? 0);
const held = document.getElementById("drops");
const drops = new Set(held ? JSON.parse(held.textContent) : []);

export const ticked = () => [...drops].sort((one, other) => one - other);

export function tick(keys) {
  drops.clear();
  keys.forEach((key) => drops.add(key));
  show();
}

// As on the server: 0% and 100% only if exact.
function percent(share) {
  const whole = Math.round(share * 100);
  return `${share > 0 && share < 1 ? Math.min(Math.max(whole, 1), 99) : whole}%`;
}

function show() {
  for (const box of document.querySelectorAll("input[name=drop]")) box.checked = drops.has(Number(box.value));
  if (!total) return;
  // The server hides the share of a saved narrative without ticks.
  if (drops.size) root.querySelector("[data-tally-line]").hidden = false;
  const share = drops.size / total;
  root.querySelector("[data-tally-count]").textContent = drops.size;
  const words = root.querySelector("[data-tally-share]");
  if (words) words.textContent = percent(share);
  root.querySelector("[data-tally-bar]")?.setAttribute("width", (100 * share).toFixed(2));
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches("input[name=drop]")) return;
  if (target.checked) drops.add(Number(target.value));
  else drops.delete(Number(target.value));
  show();
  document.dispatchEvent(new Event("rewrite:ticked"));
});
// Another part of the list was loaded: the server may not have the last ticks yet.
document.addEventListener("htmx:afterSwap", show);
show();
