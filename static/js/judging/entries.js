// The entries that a work page writes to the journal: a judgment or a flag on a candidate, the check of a label or its
// settlement, and the undoing of each. Where it says "candidate" on these pages, it is the number of what is answered: that
// of a candidate, or of a label.
export const candidateOf = (entry) => entry.candidate ?? entry.item;
export const isUndo = (entry) => entry.undoes !== undefined;
export const isCheck = (entry) => entry.item !== undefined;

// The answer of an entry, in short: a grade, a flag, or null for answers without either.
export function valueOf(entry) {
  if (entry.kind === "flag") return entry.flag;
  const grade = isCheck(entry) ? entry.fields.relevance : entry.relevance;
  return grade === undefined ? null : Number(grade);
}
