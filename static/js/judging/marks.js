// Marked words: those of the query in one colour, those of the change in another, as the server says (`data-marks`: two
// lists of start, end, start, end ... in code points). One key turns them off and on for good; two keys move between them.
import { canMark, highlightMarks, keepMarks, marksIn, rangeOf, setHighlight, wantsMarks } from "./marked.js";
import { reveal } from "./reveal.js";

// In a very long document this many are highlighted at once, and the rest a moment later.
const AT_ONCE = 1_000;
const tools = document.querySelector("[data-marks-tools]");
const root = document.querySelector(".judge");

if (tools && root && canMark) {
  const status = tools.querySelector("[data-marks-status]");
  const toggle = tools.querySelector("[data-marks-toggle]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  const words = (name, values) => tools.dataset[name].replace(/\{(\w+)\}/g, (_, key) => number.format(values[key]));
  const shown = () => toggle.ariaPressed === "true";
  let documentView = null;
  let marks = [];
  let at = -1;
  let later = 0;

  const say = (sentence, aloud) => {
    status.ariaLive = aloud ? "polite" : "off";
    status.textContent = sentence;
  };

  function draw() {
    const wanted = shown() ? marks : [];
    clearTimeout(later);
    highlightMarks(wanted.slice(0, AT_ONCE));
    if (wanted.length > AT_ONCE) later = setTimeout(() => highlightMarks(wanted), 100);
    setHighlight("mark-here", []);
    for (const button of tools.querySelectorAll("[data-marks-step]")) button.disabled = !wanted.length;
    for (const kind of tools.querySelectorAll("[data-kind]")) kind.toggleAttribute("data-none", !wanted.some((mark) => mark.kind === Number(kind.dataset.kind)));
    say(shown() ? words(marks.length ? "count" : "none", { all: marks.length }) : "", false);
  }

  function show(of) {
    documentView = of;
    marks = documentView ? marksIn(documentView) : [];
    at = -1;
    draw();
  }

  function step(way) {
    if (!marks.length) return;
    at = at < 0 ? (way > 0 ? first() : marks.length - 1) : (at + way + marks.length) % marks.length;
    const here = rangeOf(marks[at]);
    // Only one match or mark is the current one.
    setHighlight("find-here", []);
    setHighlight("mark-here", [here], 2);
    reveal(here);
    say(words("place", { at: at + 1, all: marks.length }), true);
  }

  // The first mark that is not above the screen: somebody halfway through does not start over.
  function first() {
    let low = 0;
    let high = scrollY < 8 ? 0 : marks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rangeOf(marks[middle]).getBoundingClientRect().top < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  root.addEventListener("judge:document", ({ detail }) => show(detail.documentView));
  document.addEventListener("document:window", (event) => documentView?.contains(event.target) && show(documentView));
  tools.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.marksStep) step(Number(button.dataset.marksStep));
    if (button === toggle) {
      toggle.ariaPressed = String(!shown());
      keepMarks(shown());
      draw();
    }
  });
  toggle.ariaPressed = String(wantsMarks());
  tools.hidden = false;
  show(document.querySelector(".judge__document-view"));
}
