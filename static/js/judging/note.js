// Opens the note of the judge page, when words are needed.
const field = () => document.getElementById("note");

export function openNote() {
  const note = field();
  const menu = note?.closest("details");
  if (menu) menu.open = true;
  note?.focus();
}
