// The conditions on the judge page. The grade that follows by the project's rule is marked on its button, and Enter gives it;
// another grade needs a note first. Such a rule requires an answer to every condition. Answers are sent with the judgment and
// shown again with its document.
import { conditionRows } from "../condition-rows.js";
import { warn } from "../notices.js";
import { begunMap } from "./judging-session.js";
import { openNote } from "./page.js";

const root = document.querySelector(".judge");
const strip = root?.querySelector("[data-conditions]");

function listen({ condition_rule: rule, grades }) {
  const values = grades.map((grade) => grade.value);
  const buttons = [...root.querySelectorAll("button[name=relevance]")];
  const keys = new Map(buttons.map((button) => [button, button.dataset.key]));
  const unsent = begunMap("answers"); // candidate -> its unsent answers
  let candidate = null;

  const { rows, spoken, words, answer, open, go, drawSum } = conditionRows(strip, {
    changed() {
      unsent.set(candidate, verdicts());
      draw();
      const value = follows();
      return value === null ? "" : words("followsSpoken", { grade: nameOf(value) });
    },
    enter() {
      const following = buttons.find((button) => Number(button.value) === follows());
      if (following) following.click();
      else warn(root.dataset.enter);
    },
  });
  const follows = () => deriveRelevance(rule, rows.map(answer), values);
  const verdicts = () => Object.fromEntries(rows.filter((row) => !open(row)).map((row) => [row.dataset.condition, answer(row)]));
  const nameOf = (value) => `${value} ${grades.find((grade) => grade.value === value)?.name ?? ""}`.trim();

  function draw() {
    const value = follows();
    drawSum();
    for (const button of buttons) {
      const chosen = value !== null && Number(button.value) === value;
      button.dataset.key = chosen ? `${keys.get(button)} Enter` : keys.get(button);
      button.querySelector(".follows")?.remove();
      if (!chosen) continue;
      const badge = Object.assign(document.createElement("span"), { className: "follows" });
      badge.append(Object.assign(document.createElement("span"), { textContent: words("follows") }), Object.assign(document.createElement("kbd"), { textContent: "↵", ariaHidden: "true" }));
      button.append(badge);
    }
  }

  root.addEventListener("judge:document", ({ detail }) => {
    candidate = detail.candidate;
    spoken.textContent = "";
    if (unsent.has(candidate)) detail.begun();
    const answered = unsent.get(candidate) ?? detail.answer.verdicts ?? {};
    for (const row of rows) for (const input of row.querySelectorAll("input")) input.checked = answered[row.dataset.condition] === input.value;
    // Enter must give the grade that follows, not press the button that was clicked last.
    if (document.activeElement?.matches("button[name=relevance]")) document.activeElement.blur();
    draw();
    go(Math.max(0, rows.findIndex(open)), false);
  });

  root.addEventListener("judge:collect", (event) => {
    const { entry, refuse } = event.detail;
    if (entry.kind !== "judgment") return;
    const value = follows();
    if (rule !== "by_hand" && rows.some(open)) {
      refuse(words("unanswered"));
      go(rows.findIndex(open));
      event.stopImmediatePropagation();
      return;
    }
    if (value !== null && entry.relevance !== value && !entry.note.trim()) {
      refuse(words("overrule", { grade: nameOf(value) }));
      openNote(buttons.find((button) => Number(button.value) === entry.relevance));
      event.stopImmediatePropagation();
      return;
    }
    entry.verdicts = verdicts();
  });

  root.addEventListener("judge:saved", ({ detail: { entry, taken } }) => {
    unsent.delete(entry.candidate);
    // The answers of an undone grade are kept for the next one.
    if (taken?.verdicts) unsent.set(entry.candidate, taken.verdicts);
  });

  root.addEventListener("judge:restored", ({ detail: { candidate, taken } }) => {
    if (unsent.get(candidate) === taken.verdicts) unsent.delete(candidate);
  });
}

if (strip) listen(JSON.parse(document.getElementById("judging-session").textContent));

// Returns the relevance that follows from one answer per condition (null: not answered yet), or null if none follows, by the
// rule of annotate.judgments.consensus.derive_relevance.
export function deriveRelevance(rule, answers, grades) {
  if (!answers.length) return null;
  const met = answers.filter((answer) => answer === "met").length;
  if (rule === "all_met") {
    if (answers.includes("not_met") && !answers.includes(null)) return Math.min(...grades);
    return met === answers.length ? Math.max(...grades) : null;
  }
  if (!answers.every((answer) => answer === "met" || answer === "not_met")) return null;
  if (rule === "count_met") return grades.includes(met) ? met : null;
  if (rule === "bands" && grades.length > 3) {
    const ordered = [...grades].sort((a, b) => a - b);
    const band = [1, 2, 4].filter((fewest) => met >= fewest).length;
    if (band) return ordered.slice(-3)[band - 1];
    return ordered.length === 4 ? ordered[0] : null;
  }
  return null;
}
