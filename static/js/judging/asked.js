// The narrative pane of the judge page. `[data-asked-view]` shows the narrative in one of three ways: clean, with its
// changes marked, or beside the original; `[data-asked-next]` switches to the next way. `[data-asked-fold]` folds the pane
// away and back. Both are remembered in this browser. The guidelines are a <details> in the pane: Escape closes them.
const root = document.querySelector(".judge");
const pane = root?.querySelector("[data-asked]");
const VIEW = "judge-narrative";
// A narrative that was written anew has no marked view.
const VIEWS = ["marked", "split", "clean"].filter((view) => pane?.querySelector(`[data-asked-view="${view}"]`));
const FOLDED = "judge-folded";

const remember = (name, on) => localStorage.setItem(name, on ? "yes" : "");
const remembered = (name) => localStorage.getItem(name) === "yes";

// Shows the narrative if it is folded away, without changing what is remembered, for somebody about to mark in it.
export function unfold() {
  if (root && "folded" in root.dataset) fold(false);
}

function fold(on) {
  root.toggleAttribute("data-folded", on);
  pane.querySelector("[data-asked-fold]").ariaExpanded = String(!on);
  pane.querySelector(".judge__question").tabIndex = on ? -1 : 0;
}

// Fills in the original: the marked text without its additions.
function fillOriginal() {
  const original = pane.querySelector("[data-asked-original]").lastElementChild;
  const narrative = pane.querySelector("[data-narrative]");
  if (original.childNodes.length) return;
  const copy = narrative.cloneNode(true);
  for (const added of copy.querySelectorAll("ins")) added.remove();
  if ("anew" in narrative.dataset) copy.replaceChildren(...copy.querySelectorAll("del"));
  for (const clause of copy.querySelectorAll("[data-clause]")) clause.replaceWith(...clause.childNodes);
  original.toggleAttribute("data-anew", "anew" in narrative.dataset);
  original.append(...copy.childNodes);
}

function show(view) {
  if (view === "split") fillOriginal();
  pane.querySelector("[data-asked-original]").hidden = view !== "split";
  root.dataset.narrativeView = view;
  for (const button of pane.querySelectorAll("[data-asked-view]")) button.ariaPressed = String(button.dataset.askedView === view);
}

function choose(view) {
  show(view);
  localStorage.setItem(VIEW, view);
}

// In a small window the tools of the bar are behind one button.
const tools = root?.querySelector("[data-tools-button]");
if (tools) {
  tools.hidden = !document.getElementById("judge-tools").children.length;
  tools.addEventListener("click", () => (tools.ariaExpanded = String(root.toggleAttribute("data-tools"))));
}

if (pane) {
  const views = pane.querySelector("[data-asked-views]");
  const folds = pane.querySelector("[data-asked-fold]");
  const guidelines = pane.querySelector("[data-guidelines]");
  folds.hidden = false;
  folds.addEventListener("click", () => {
    fold(!("folded" in root.dataset));
    if ("folded" in root.dataset && guidelines) guidelines.open = false;
    remember(FOLDED, "folded" in root.dataset);
  });
  if (views) {
    views.hidden = false;
    views.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      if (button.dataset.askedView) return choose(button.dataset.askedView);
      // If the pane is folded away, the key opens it side by side.
      const folded = "folded" in root.dataset;
      if (folded) fold(false);
      choose(folded ? "split" : VIEWS[(VIEWS.indexOf(root.dataset.narrativeView) + 1) % VIEWS.length]);
    });
    const last = localStorage.getItem(VIEW);
    show(VIEWS.includes(last) ? last : VIEWS[0]);
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
