// Marks changes while somebody writes. In `[data-diff]`: `[data-diff-before]` holds the original text and marks what was
// removed, the textarea `[data-diff-after]` holds the new text, `[data-diff-mirror]` lies under it and marks additions.
import { diff, isComparable } from "../diff.js";

const TAGS = { added: "ins", removed: "del" };
// For longer texts the marks would lag behind typing, so there are none; the text itself is not affected.
const LONGEST = 40_000;

function draw(target, pieces) {
  target.replaceChildren(...pieces.map(([op, text]) => (TAGS[op] ? Object.assign(document.createElement(TAGS[op]), { textContent: text }) : text)));
}

for (const root of document.querySelectorAll("[data-diff]")) {
  const after = root.querySelector("[data-diff-after]");
  const original = root.querySelector("[data-diff-before]");
  const mirror = root.querySelector("[data-diff-mirror]");
  const before = original.dataset.diffText ?? original.textContent;
  let waiting = 0;
  const update = () => {
    waiting = 0;
    const marks = before.length + after.value.length <= LONGEST && isComparable(before, after.value);
    const pieces = marks ? diff(before, after.value) : [["kept", after.value]];
    draw(original, marks ? pieces.filter(([op]) => op !== "added") : [["kept", before]]);
    // The mirror's letters must be in the same places as the textarea's: a removal is a mark without width.
    draw(mirror, [...pieces.map(([op, text]) => (op === "removed" ? [op, ""] : [op, text])), ["kept", "\n"]]);
  };
  root.addEventListener("input", () => (waiting ||= requestAnimationFrame(update)));
  update();
}
