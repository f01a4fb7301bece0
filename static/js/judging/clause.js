// Chooses clauses of the narrative: by number, by a click, or with the arrows. A number or a click chooses one and ends;
// Space chooses and continues, Enter chooses and ends, Escape ends. Choosing a clause again removes it.
// chooseClause(narrative, { chosen(clause), toggle(clause), left(), say(kind, clause) }) -> a function that ends choosing.
import { meant } from "../keys.js";

export const clausesOf = (narrative) => [...(narrative?.querySelectorAll("[data-clause]") ?? [])];

export function chooseClause(narrative, { chosen, toggle, left, say }) {
  const clauses = clausesOf(narrative);
  const controller = new AbortController();
  let current = -1;

  function leave() {
    controller.abort();
    delete narrative.dataset.choosing;
    for (const clause of clauses) delete clause.dataset.current;
    left();
  }

  function take(clause) {
    leave();
    toggle(clause);
  }

  function go(index) {
    if (current >= 0) delete clauses[current].dataset.current;
    current = Math.max(0, Math.min(index, clauses.length - 1));
    clauses[current].dataset.current = "";
    clauses[current].scrollIntoView({ block: "nearest" });
    say("clause", clauses[current]);
  }

  function keydown(event) {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.("textarea, input, select") || document.querySelector("dialog[open]")) return;
    const { key } = event;
    const number = meant(event).find((one) => /^[0-9]$/.test(one));
    if (number > 0 && clauses[number - 1]) take(clauses[number - 1]);
    else if (key === "ArrowDown" || key === "ArrowRight") go(current + 1);
    else if (key === "ArrowUp" || key === "ArrowLeft") go(current - 1);
    else if (key === " ") toggle(clauses[current]);
    else if (key === "Enter" && chosen(clauses[current])) leave();
    else if (key === "Enter") take(clauses[current]);
    else if (key === "Escape") leave();
    // Swallow a number that no clause has: it must not give a grade.
    else if (number === undefined) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  const { signal } = controller;
  window.addEventListener("keydown", keydown, { capture: true, signal });
  narrative.addEventListener("click", (event) => {
    const clause = event.target.closest("[data-clause]");
    if (clause) take(clause);
  }, { signal });
  narrative.dataset.choosing = "";
  go(Math.max(0, clauses.findIndex(chosen)));
  return leave;
}
