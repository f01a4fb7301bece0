// Reading aids for a document: marked words of the query, and a search in the text.
import { canMark, highlightMarks, keepMarks, marksIn, rangeOf, reveal, setHighlight, texts, wantsMarks } from "./spans.js";
import { fetchWindow, replaceWindow, sayFailed, windowUrl } from "./table.js";

// Marked words: those of the query in one colour, those of the change in another, as the server says (`data-marks`: two
// lists of start, end, start, end ... in code points). One key turns them off and on for good; two keys move between them.

// In a very long document this many are highlighted at once, and the rest a moment later.
const AT_ONCE = 1_000;
const tools = document.querySelector("[data-marks-tools]");
const root = document.querySelector(".judge");

if (tools && root && canMark) {
  const status = tools.querySelector("[data-marks-status]");
  const toggle = tools.querySelector("[data-marks-toggle]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  const words = (name, values) => tools.dataset[name].replace(/\{(\w+)\}/g, (_, key) => number.format(values[key]));
  const isOn = () => toggle.ariaPressed === "true";
  let documentView = null;
  let marks = [];
  let at = -1;
  let later = 0;

  const say = (sentence, aloud) => {
    status.ariaLive = aloud ? "polite" : "off";
    status.textContent = sentence;
  };

  function draw() {
    const wanted = isOn() ? marks : [];
    clearTimeout(later);
    highlightMarks(wanted.slice(0, AT_ONCE));
    if (wanted.length > AT_ONCE) later = setTimeout(() => highlightMarks(wanted), 100);
    setHighlight("mark-here", []);
    for (const button of tools.querySelectorAll("[data-marks-step]")) button.disabled = !wanted.length;
    for (const kind of tools.querySelectorAll("[data-kind]")) kind.toggleAttribute("data-none", !wanted.some((mark) => mark.kind === Number(kind.dataset.kind)));
    say(isOn() ? words(marks.length ? "count" : "none", { all: marks.length }) : "", false);
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
      toggle.ariaPressed = String(!isOn());
      keepMarks(isOn());
      draw();
    }
  });
  toggle.ariaPressed = String(wantsMarks());
  tools.hidden = false;
  show(document.querySelector(".judge__document-view"));
}

// The find box, for one document: the next one begins without words to find. Each of the words is found anywhere, also within words and in any case (the same rule as annotate.collection.table_windows.search_pattern). Enter goes to the next
// match, Shift and Enter to the one before; Escape leaves the box and keeps the words. For a table that is shown in windows
// the server says how many matches there are, and in which window the next one is.

const PAINTED = 5_000;
const PAUSE = 250;
const form = document.querySelector("[data-find]");

if (form && root && canMark) {
  const field = form.querySelector("input");
  const status = form.querySelector("[data-find-status]");
  const clear = form.querySelector("[data-find-clear]");
  const steps = form.querySelectorAll("[data-find-step]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  const words = (name, values) => form.dataset[name].replace(/\{(\w+)\}/g, (_, key) => number.format(values[key]));
  let documentView = null;
  let matches = []; // those that count, in the order of the document: {element, start, end}, in units
  let at = -1;
  let whole = null; // for a table shown in windows: {before, total}; null while unknown, or if all of it is shown
  let asked = 0;
  let timer = 0;

  const open = (yes) => form.toggleAttribute("data-open", yes);
  const place = () => documentView?.querySelector("[data-window]") ?? null;
  const say = (sentence, aloud) => {
    status.ariaLive = aloud ? "polite" : "off";
    status.textContent = sentence;
  };

  function pattern() {
    const terms = [...new Set(field.value.split(/\s+/).filter(Boolean))].sort((one, other) => other.length - one.length);
    return terms.length ? new RegExp(terms.map((term) => term.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "giu") : null;
  }

  // A cell that belongs to another window is highlighted here and counted there; a note below a table of several windows
  // belongs to none of them.
  const counts = (element) => !("again" in element.dataset) && !(place() && element.matches(".document__note"));

  function search() {
    const sought = pattern();
    const painted = [];
    matches = [];
    at = -1;
    for (const element of sought && documentView ? texts(documentView) : []) {
      for (const match of element.textContent.matchAll(sought)) {
        const found = { element, start: match.index, end: match.index + match[0].length };
        if (counts(element)) matches.push(found);
        if (painted.length < PAINTED) painted.push(rangeOf(found));
      }
    }
    setHighlight("find", painted, 1);
    setHighlight("find-here", []);
    clear.hidden = !field.value;
    for (const button of steps) button.disabled = !sought;
  }

  // Matches in the title and the caption come before those of all windows.
  const outside = () => matches.filter(({ element }) => !element.closest("tbody, thead")).length;

  function count(aloud) {
    if (!pattern()) return say("", false);
    const all = whole ? whole.total + outside() : matches.length;
    if (!all) return say(place() && !whole ? "" : words("none", {}), aloud);
    if (at < 0) return say(words("count", { all }), aloud);
    say(words("place", { at: at + 1 + (whole && at >= outside() ? whole.before : 0), all }), aloud);
  }

  function show(of) {
    documentView = of;
    whole = null;
    search();
    count(false);
    if (place() && pattern()) ask();
  }

  // For a table in windows only the server knows the count; it is asked when typing pauses.
  function ask() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const here = place();
      const turn = ++asked;
      try {
        const found = await fetchWindow(here, windowUrl(here, { find: field.value, go: "here" }));
        if (turn !== asked || here !== place()) return;
        whole = known(found, here);
        count(true);
      } catch {
        if (turn === asked) say(words("failed", {}), true);
      }
    }, PAUSE);
  }

  // The counts of a response for the window `here`: it may be for a later window, if this one has no match.
  function known(answer, here) {
    const total = Number(answer.dataset.foundTotal ?? 0);
    const before = Number(answer.dataset.foundBefore ?? 0);
    const same = answer.dataset.row === here.dataset.row && answer.dataset.column === here.dataset.column;
    return { total, before: same ? before : 0 };
  }

  async function step(way) {
    if (!pattern()) return;
    const next = at < 0 && way < 0 ? matches.length - 1 : at + way;
    // Going back from the first match of a window leads to an earlier window with a match, if any, not to the title.
    const low = whole?.before ? outside() : 0;
    const turning = place() && (next < low || next >= matches.length);
    if (turning && (await turned(way))) return;
    if (!matches.length) return count(true);
    go((next + matches.length) % matches.length);
  }

  // Goes to the next window that has a match; returns false if there is none, or if it cannot be fetched.
  async function turned(way) {
    const here = place();
    const turn = ++asked;
    clearTimeout(timer);
    try {
      const fresh = await fetchWindow(here, windowUrl(here, { find: field.value, go: way > 0 ? "next" : "previous" }));
      if (turn !== asked || here !== place()) return true;
      whole = known(fresh, fresh);
      const same = fresh.dataset.row === here.dataset.row && fresh.dataset.column === here.dataset.column;
      if (!whole.total || same) return false;
      replaceWindow(here, fresh);
      const first = Math.min(outside(), matches.length - 1);
      go(way > 0 ? first : matches.length - 1);
      return true;
    } catch {
      if (turn === asked) sayFailed(here);
      return false;
    }
  }

  function go(to) {
    at = to;
    const here = rangeOf(matches[at]);
    setHighlight("mark-here", []);
    setHighlight("find-here", [here], 3);
    reveal(here);
    count(true);
  }

  function typed() {
    whole = null;
    search();
    count(!place());
    if (place() && pattern()) ask();
  }

  root.addEventListener("judge:document", ({ detail }) => {
    field.value = "";
    open(false);
    show(detail.documentView);
  });
  document.addEventListener("document:window", (event) => {
    if (!documentView?.contains(event.target)) return;
    search();
    count(false);
    // The window was changed by its own links, not by this box.
    if (pattern() && event.target.dataset.foundTotal === undefined) ask();
  });
  field.addEventListener("input", typed);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  });
  form.addEventListener("focusout", (event) => open(field.value !== "" || form.contains(event.relatedTarget)));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("findFocus" in button.dataset) {
      open(true);
      field.focus();
      field.select();
    } else if (button.dataset.findStep) {
      step(Number(button.dataset.findStep));
    } else {
      field.focus();
      field.value = "";
      typed();
    }
  });
  form.hidden = false;
  show(document.querySelector(".judge__document-view"));
}
