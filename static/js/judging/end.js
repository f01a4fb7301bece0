// The card after the last document: the summary of a query, and the ways on.
import { journal, status } from "../journal.js";

// The summary at the end of a query: the number of each grade and flag, the documents with a note or a flag, the time spent.
// `[data-sum]` holds a count ("any": of answers of any kind), `[data-documents]` the links; rows with the count 0 are hidden, except grades.
const timeSpent = (words, ms) => {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return words("seconds", { count: seconds });
  const count = Math.round(seconds / 60);
  return count < 60 ? words("minutes", { count }) : words("hours", { hours: Math.floor(count / 60), minutes: count % 60 });
};

// The time with the documents that are judged, of all that was answered to them (annotate.judgments.models, `with_time`): an answer
// that was undone counts only if the document was judged again.
function timeOfJudged({ given, judgingSession, entries }) {
  const judged = judgingSession.order.filter((candidate) => judgingSession.answerOf(candidate)?.kind === "judgment");
  const times = new Map(judged.map((candidate) => [candidate, given.active_ms[candidate] ?? 0]));
  for (const { uuid, candidate, active_ms: spent = 0 } of entries.values()) {
    if (times.has(candidate) && judgingSession.isNew(uuid)) times.set(candidate, times.get(candidate) + spent);
  }
  return [...times.values()].reduce((sum, spent) => sum + spent, 0);
}

export function summarize(place, { given, judgingSession, entries, address, number }) {
  const words = (name, values) => place.dataset[name].replace(/\{(\w+)\}/g, (_, key) => number.format(values[key]));
  const statements = judgingSession.order.map((candidate) => ({ candidate, ...judgingSession.answerOf(candidate) }));
  const noted = new Set(given.noted);
  const hasNote = ({ candidate, kind, uuid }) => kind === "judgment" && (entries.has(uuid) ? entries.get(uuid).note !== "" : noted.has(candidate));
  const found = (name) => {
    const [kind, value] = name.split(" ");
    if (kind === "noted") return statements.filter(hasNote);
    if (kind === "any") return statements.filter((one) => one.uuid && (value === undefined || String(one.value) === value));
    return statements.filter((one) => one.kind === kind && String(one.value) === value);
  };
  for (const sum of place.querySelectorAll("[data-sum]")) {
    const of = found(sum.dataset.sum);
    sum.textContent = number.format(of.length);
    const links = sum.closest("li").querySelector("[data-documents]");
    if (!links) continue;
    sum.closest("li").hidden = !of.length;
    links.replaceChildren(
      ...of.flatMap(({ candidate }, index) => {
        const link = Object.assign(document.createElement("a"), { href: address(candidate), textContent: number.format(judgingSession.position(candidate)) });
        return index ? [", ", link] : [link];
      }),
    );
  }
  const time = place.querySelector("[data-time]");
  if (!time) return;
  const spent = timeOfJudged({ given, judgingSession, entries });
  time.hidden = !spent;
  time.lastElementChild.textContent = timeSpent(words, spent);
}

// The ways on from the card after the last document (`data-onward`): they wait until every answer is saved, and say so. Without a
// network they would lead to the browser's own error page.

const card = document.querySelector("[data-part=end]");
const line = card?.querySelector("[data-part=onward]");
let wanted = null; // the link or the form that waits

const waits = () => status.waiting > 0 || !navigator.onLine;

function hold(event) {
  if (!waits()) return;
  event.preventDefault();
  wanted = event.target.closest("[data-onward]");
  show();
}

function show() {
  if (!line || !wanted) return;
  line.hidden = false;
  line.textContent = card.dataset.waits.replace("{count}", status.waiting);
}

function goOn() {
  if (!wanted) return;
  if (waits()) return show();
  const element = wanted;
  clearOnward();
  if (element.matches("form")) element.requestSubmit();
  else element.click();
}

// Forgets the way that was wanted: another document is shown.
export function clearOnward() {
  wanted = null;
  if (line) line.hidden = true;
}

document.addEventListener("submit", (event) => event.target.matches("[data-onward]") && hold(event), true);
document.addEventListener("click", (event) => event.target.closest("a[data-onward]") && hold(event), true);
journal.addEventListener("status", goOn);
addEventListener("online", goOn);
