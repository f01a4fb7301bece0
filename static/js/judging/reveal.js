// Scrolls a range of a document to the middle of the window. Parts of a long text that were never visible have only an
// estimated height, so the range is centred again once they are laid out.
export function reveal(range) {
  const element = range.startContainer.parentElement;
  const cell = element.closest("td, th, caption");
  if (cell) return cell.scrollIntoView({ block: "center", inline: "center" });
  element.closest(".document__part")?.scrollIntoView({ block: "center" });
  toTheMiddle(range);
  requestAnimationFrame(() => toTheMiddle(range));
}

function toTheMiddle(range) {
  const box = range.getBoundingClientRect();
  const bar = document.querySelector(".judge__bar")?.offsetHeight ?? 0;
  const away = box.top + box.height / 2 - (innerHeight - bar) / 2;
  if (box.height && Math.abs(away) > 1) scrollBy(0, away);
}
