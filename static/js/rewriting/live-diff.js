// Marks the change while one writes. In `[data-diff]`: `[data-diff-before]` holds the fixed text and shows what was taken
// out, the textarea `[data-diff-after]` is written in, `[data-diff-mirror]` lies under it and shows what was added.
import { diff } from "../diff.js";

const TAGS = { added: "ins", removed: "del" };
// Beyond this the marks would lag behind the keys; the words themselves are safe.
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
    const pieces = before.length + after.value.length > LONGEST ? [["kept", after.value]] : diff(before, after.value);
    draw(original, before.length + after.value.length > LONGEST ? [["kept", before]] : pieces.filter(([op]) => op !== "added"));
    // The mirror's letters must stand where the textarea's stand: what was taken out is a wedge without width.
    draw(mirror, [...pieces.map(([op, text]) => (op === "removed" ? [op, ""] : [op, text])), ["kept", "\n"]]);
  };
  root.addEventListener("input", () => (waiting ||= requestAnimationFrame(update)));
  update();
}
