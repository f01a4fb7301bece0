import { inSight } from "../in-sight.js";

// The cells of a table as evidence: each is a span of the document's text, as the server says (`data-cells`: for each cell
// of the window, the distance from the end of the one before, and its length, in code points).
// chooseCell(cells, { chosen(cell), toggle(cell), left(), say(words) }) -> a function that ends choosing. A click chooses a
// cell and ends; the arrows move, Space chooses and continues, Enter chooses and ends, Escape ends.
export function cellsOf(documentView) {
  const table = documentView.querySelector(".document__table");
  if (!table) return [];
  const numbers = table.dataset.cells.split(" ").map(Number);
  let at = 0;
  return [...table.querySelectorAll("th, td")]
    .map((element, index) => {
      const start = at + numbers[2 * index];
      at = start + numbers[2 * index + 1];
      return { element, start, end: at };
    })
    .filter(({ start, end }) => start < end);
}

export const wordsOf = ({ element }) => element.textContent.trim();

const typing = (target) => target.matches?.("textarea, input, select") || target.isContentEditable;

export function chooseCell(cells, { chosen, toggle, left, say }) {
  const controller = new AbortController();
  let current = cells.find(chosen) ?? cells.find(({ element }) => inSight(element)) ?? cells[0];

  function leave() {
    controller.abort();
    delete current.element.dataset.current;
    left();
  }

  function take(cell) {
    leave();
    toggle(cell);
  }

  function go(cell) {
    if (!cell) return;
    delete current.element.dataset.current;
    current = cell;
    current.element.dataset.current = "";
    current.element.scrollIntoView({ block: "nearest", inline: "nearest" });
    say(wordsOf(current));
  }

  // The nearest cell in a direction, preferring the same row or column.
  function neighbour(key) {
    const here = current.element.getBoundingClientRect();
    const across = key === "ArrowLeft" || key === "ArrowRight";
    const forward = key === "ArrowRight" || key === "ArrowDown";
    const side = ({ left, right, top, bottom }) => (across ? (forward ? left - here.right : here.left - right) : forward ? top - here.bottom : here.top - bottom);
    const aside = ({ left, right, top, bottom }) => (across ? Math.abs(top + bottom - here.top - here.bottom) : Math.abs(left + right - here.left - here.right));
    const boxes = cells.map((cell) => ({ cell, box: cell.element.getBoundingClientRect() })).filter(({ box }) => side(box) > -2);
    boxes.sort((one, other) => side(one.box) + 4 * aside(one.box) - side(other.box) - 4 * aside(other.box));
    return boxes[0]?.cell;
  }

  function keydown(event) {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key.startsWith("Arrow")) go(neighbour(event.key));
    else if (event.key === " ") toggle(current);
    else if (event.key === "Enter" && chosen(current)) leave();
    else if (event.key === "Enter") take(current);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  const { signal } = controller;
  window.addEventListener("keydown", keydown, { capture: true, signal });
  document.addEventListener("click", ({ target }) => {
    const cell = cells.find(({ element }) => element.contains(target));
    if (cell) take(cell);
  }, { signal });
  go(current);
  return leave;
}
