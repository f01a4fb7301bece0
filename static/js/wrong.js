// After a form was refused: the first field that is wrong has the focus, and what is wrong with it is on the screen. Without
// this a long page opens at its top, and looks as if nothing had happened.
const field = document.querySelector("form [aria-invalid=true]:not([type=hidden])");

if (field) {
  const told = field.getAttribute("aria-describedby")?.split(" ").map((id) => document.getElementById(id)).find((element) => element?.matches(".errorlist"));
  field.focus({ preventScroll: true });
  (told ?? field).scrollIntoView({ block: "center" });
}
