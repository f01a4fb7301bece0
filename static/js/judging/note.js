// The note of the judge page, opened where words are asked for.
const field = () => document.getElementById("note");

export function openNote() {
  const note = field();
  const menu = note?.closest("details");
  if (menu) menu.open = true;
  note?.focus();
}
