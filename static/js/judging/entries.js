// The tasks of the work page, and the entries that each writes to the journal. What is answered has a number: that of a candidate,
// a label or a criterion; where these pages say "candidate", they mean that number.
// `answers`: the kinds of answers. `undo`: the kind of their undoing. `number`: the field with the number. `of`: the fields that name
// what is worked on. `restores`: whether an undoing brings the answer before back.
const CHECK = { undo: "check_withdrawal", number: "item", of: [], restores: false };
export const TASKS = {
  judge: { answers: ["judgment", "flag"], undo: "undo", number: "candidate", of: ["pair", "narrative"], restores: true },
  check: { ...CHECK, answers: ["check"] },
  settle: { ...CHECK, answers: ["settle"] },
  review: { answers: ["rating"], undo: "rating", number: "item", of: ["pair", "narrative"], restores: true },
};

export const candidateOf = (entry) => entry.candidate ?? entry.item;
export const isUndo = (entry) => entry.undoes !== undefined;

// The answer of an entry, in short: a grade, a level, a flag, or null for answers without any.
export function valueOf(entry) {
  if (entry.kind === "flag") return entry.flag;
  const { relevance, level } = entry.fields ?? entry;
  return level ?? (relevance === undefined ? null : Number(relevance));
}
