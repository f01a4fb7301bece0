// Highlights quoted passages (`[data-passage]` with offsets in code points of the stored text) in the document beside them, on pages
// that show judgments later.
import { Text } from "./spans.js";

function highlight() {
  const element = document.querySelector(".document__text");
  const quotes = [...document.querySelectorAll("[data-passage]")];
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("evidence");
  if (!element || !quotes.length) return;
  const text = new Text(element);
  const ranges = quotes.map(({ dataset }) => text.range([text.units(Number(dataset.start)), text.units(Number(dataset.end))]));
  CSS.highlights.set("evidence", new Highlight(...ranges));
}

highlight();
document.querySelector(".judge")?.addEventListener("judge:document", highlight);
