// After a form was refused: focuses the first invalid field, and scrolls its error into view. Without this a long page opens
// at its top, and looks as if nothing had happened.
const field = document.querySelector("form [aria-invalid=true]:not([type=hidden])");

if (field) {
  const error = field.getAttribute("aria-describedby")?.split(" ").map((id) => document.getElementById(id)).find((element) => element?.matches(".errorlist"));
  field.focus({ preventScroll: true });
  // Wait until the page has its final height: fields grow with their content.
  addEventListener("load", () => requestAnimationFrame(() => (error ?? field).scrollIntoView({ block: "center" })));
}
