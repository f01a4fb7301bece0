// How many frames the layout may take to settle.
const FRAMES = 20;

let revealed;

// Scrolls a range of a document to the middle of the window. Parts of a long text that were never visible have only an
// estimated height, so the range is centred again in each frame until it stays there.
export function reveal(range) {
  revealed = range;
  const element = range.startContainer.parentElement;
  const cell = element.closest("td, th, caption");
  if (cell) return cell.scrollIntoView({ block: "center", inline: "center" });
  element.closest(".document__part")?.scrollIntoView({ block: "center" });
  centre(range, FRAMES);
}

function centre(range, frames, stays = false) {
  if (range !== revealed) return;
  const box = range.getBoundingClientRect();
  const bar = document.querySelector(".judge__bar")?.offsetHeight ?? 0;
  const away = box.top + box.height / 2 - (innerHeight - bar) / 2;
  const there = box.height && Math.abs(away) <= 1;
  if (box.height && !there) scrollBy(0, away);
  // At the end of a document the range cannot reach the middle.
  if (frames && !(there && stays)) requestAnimationFrame(() => centre(range, frames - 1, there));
}
