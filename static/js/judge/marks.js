// Marked words: the query's in one colour, those of the change in another, where the server says (`data-marks`: two lists
// of start, end, start, end ... in code points). One key turns them off and on, for good; two go from mark to mark.
import { canMark, paint, textOf } from "./marked.js";
import { reveal } from "./reveal.js";

const KEPT = "rejudge.marks";
// Of a very long document these are painted at once, and the rest when the document is there.
const AT_ONCE = 1_000;
const tools = document.querySelector("[data-marks-tools]");
const root = document.querySelector(".judge");

if (tools && root && canMark) {
  const status = tools.querySelector("[data-marks-status]");
  const toggle = tools.querySelector("[data-marks-toggle]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  const words = (name, values) => tools.dataset[name].replace(/\{(\w+)\}/g, (_, key) => number.format(values[key]));
  const shown = () => toggle.ariaPressed === "true";
  let sheet = null;
  let marks = []; // in the order of the document: {element, start, end, kind}, in units
  let at = -1;
  let later = 0;

  const say = (sentence, aloud) => {
    status.ariaLive = aloud ? "polite" : "off";
    status.textContent = sentence;
  };

  function read() {
    marks = [];
    at = -1;
    for (const element of sheet?.querySelectorAll("[data-marks]") ?? []) {
      const text = textOf(element);
      const found = [];
      JSON.parse(element.dataset.marks).forEach((offsets, kind) => {
        for (let n = 0; n < offsets.length; n += 2) found.push({ element, start: text.units(offsets[n]), end: text.units(offsets[n + 1]), kind });
      });
      marks.push(...found.sort((one, other) => one.start - other.start));
    }
  }

  const range = ({ element, start, end }) => textOf(element).range([start, end]);

  function cover(some) {
    paint("mark-query", some.filter((mark) => mark.kind === 0).map(range));
    paint("mark-change", some.filter((mark) => mark.kind === 1).map(range));
  }

  function draw() {
    const wanted = shown() ? marks : [];
    clearTimeout(later);
    cover(wanted.slice(0, AT_ONCE));
    if (wanted.length > AT_ONCE) later = setTimeout(() => cover(wanted), 100);
    paint("mark-here", []);
    for (const button of tools.querySelectorAll("[data-marks-step]")) button.disabled = !wanted.length;
    say(shown() ? words(marks.length ? "count" : "none", { all: marks.length }) : "", false);
  }

  function show(of) {
    sheet = of;
    read();
    draw();
  }

  function step(way) {
    if (!marks.length) return;
    at = at < 0 ? (way > 0 ? first() : marks.length - 1) : (at + way + marks.length) % marks.length;
    const here = range(marks[at]);
    paint("mark-here", [here], 2);
    reveal(here);
    say(words("place", { at: at + 1, all: marks.length }), true);
  }

  // The first mark from what is on the screen on: whoever read halfway does not begin anew.
  function first() {
    if (scrollY < 8) return 0;
    const below = marks.findIndex((mark) => range(mark).getBoundingClientRect().top > 0);
    return Math.max(0, below);
  }

  root.addEventListener("judge:document", ({ detail }) => show(detail.sheet));
  document.addEventListener("document:window", (event) => sheet?.contains(event.target) && show(sheet));
  tools.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.marksStep) step(Number(button.dataset.marksStep));
    if (button === toggle) {
      toggle.ariaPressed = String(!shown());
      localStorage.setItem(KEPT, shown() ? "on" : "off");
      draw();
    }
  });
  toggle.ariaPressed = String(localStorage.getItem(KEPT) !== "off");
  tools.hidden = false;
  show(document.querySelector(".judge__sheet"));
}
