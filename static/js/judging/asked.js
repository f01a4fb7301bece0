// The narrative pane of the judge page. `[data-asked-split]` sets the original beside the altered narrative, each with its
// part of the change marked, and back to one text; `[data-asked-fold]` folds the pane away and back. Both are remembered
// in this browser. The guidelines are a <details> of the pane: Escape closes them.
const root = document.querySelector(".judge");
const pane = root?.querySelector("[data-asked]");
const SPLIT = "judge-split";
const FOLDED = "judge-folded";

const remember = (name, on) => localStorage.setItem(name, on ? "yes" : "");
const remembered = (name) => localStorage.getItem(name) === "yes";

// Shows the narrative if it is folded away, without changing what is remembered: someone is about to point into it.
export function unfold() {
  if (root && "folded" in root.dataset) fold(false);
}

function fold(on) {
  root.toggleAttribute("data-folded", on);
  pane.querySelector("[data-asked-fold]").ariaExpanded = String(!on);
  pane.querySelector(".judge__question").tabIndex = on ? -1 : 0;
}

function split(on) {
  const original = pane.querySelector("[data-asked-original]");
  const narrative = pane.querySelector("[data-narrative]");
  if (on && original.lastElementChild.childNodes.length === 0) {
    // The older text is the marked one without what was added.
    const copy = narrative.cloneNode(true);
    for (const added of copy.querySelectorAll("ins")) added.remove();
    if ("anew" in narrative.dataset) copy.replaceChildren(...copy.querySelectorAll("del"));
    for (const clause of copy.querySelectorAll("[data-clause]")) clause.replaceWith(...clause.childNodes);
    original.lastElementChild.toggleAttribute("data-anew", "anew" in narrative.dataset);
    original.lastElementChild.append(...copy.childNodes);
  }
  original.hidden = !on;
  root.toggleAttribute("data-split", on);
  pane.querySelector("[data-asked-split]").ariaPressed = String(on);
}

if (pane) {
  const splits = pane.querySelector("[data-asked-split]");
  const folds = pane.querySelector("[data-asked-fold]");
  const guidelines = pane.querySelector("[data-guidelines]");
  folds.hidden = false;
  folds.addEventListener("click", () => {
    fold(!("folded" in root.dataset));
    if ("folded" in root.dataset && guidelines) guidelines.open = false;
    remember(FOLDED, "folded" in root.dataset);
  });
  if (splits) {
    splits.hidden = false;
    splits.addEventListener("click", () => {
      // Folded away there is nothing to see: then the key brings the pane back with it.
      const folded = "folded" in root.dataset;
      if (folded) fold(false);
      split(folded || !("split" in root.dataset));
      remember(SPLIT, "split" in root.dataset);
    });
    split(remembered(SPLIT));
  }
  fold(remembered(FOLDED));
  guidelines?.addEventListener("toggle", () => {
    if (!guidelines.open) return;
    unfold();
    guidelines.lastElementChild.scrollTop = 0;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || !guidelines?.open) return;
    if (event.target.matches("textarea, input, select") || event.target.closest("dialog")) return;
    guidelines.open = false;
    event.preventDefault();
  });
}
