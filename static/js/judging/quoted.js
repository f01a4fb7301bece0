// Highlights quoted passages (`[data-passage]` with offsets in code points of the stored text) in the document beside them,
// on pages that show judgments later.
import { Text } from "./spans.js";

const element = document.querySelector(".document__text");
const quotes = [...document.querySelectorAll("[data-passage]")];

if (element && quotes.length && "highlights" in CSS) {
  const text = new Text(element);
  const ranges = quotes.map(({ dataset }) => text.range([text.units(Number(dataset.start)), text.units(Number(dataset.end))]));
  CSS.highlights.set("evidence", new Highlight(...ranges));
}
