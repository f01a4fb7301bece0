// Returns the relevance that follows from one answer per condition (null: not answered yet), or null if none follows, by the
// rule of annotate.judgments.conditions.derive_relevance.
export function deriveRelevance(rule, answers, grades) {
  if (!answers.length) return null;
  const met = answers.filter((answer) => answer === "met").length;
  if (rule === "all_met") {
    if (answers.includes("not_met") && !answers.includes(null)) return Math.min(...grades);
    return met === answers.length ? Math.max(...grades) : null;
  }
  if (rule === "count_met" && answers.every((answer) => answer === "met" || answer === "not_met")) return grades.includes(met) ? met : null;
  return null;
}
