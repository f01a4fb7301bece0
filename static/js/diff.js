// The word diff of two texts, by the same rule as base/word_diff.py: words, punctuation marks and white space are
// tokens, matched as in Python's difflib (longest common run first, then left and right of it).
// diff(before, after) -> [["kept" | "removed" | "added", text], ...]
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const TOKEN = new RegExp(`[${SPACE}]+|[\\p{L}\\p{N}_]+|[^\\p{L}\\p{N}_${SPACE}]`, "gu");
const BLANK = new RegExp(`^[${SPACE}]+$`);

const tokens = (text) => text.match(TOKEN) ?? [];

// The most steps of one comparison, as in base/word_diff.py: more would lag behind typing.
const MOST_STEPS = 20_000_000;

// Whether two texts are short and different enough in their words to be compared while somebody types.
export function isComparable(before, after) {
  const [a, b] = [tokens(before), tokens(after)];
  const counts = new Map();
  for (const token of a) counts.set(token, (counts.get(token) ?? 0) + 1);
  let equal = 0;
  for (const token of b) equal += counts.get(token) ?? 0;
  return Math.min(a.length, b.length) * (a.length + equal) <= MOST_STEPS;
}

function longest(a, places, aFrom, aTo, bFrom, bTo) {
  let best = [aFrom, bFrom, 0];
  let lengths = new Map();
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map();
    for (const j of places.get(a[i]) ?? []) {
      if (j < bFrom) continue;
      if (j >= bTo) break;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > best[2]) best = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  return best;
}

function matches(a, b) {
  const places = new Map();
  b.forEach((token, j) => (places.get(token) ?? places.set(token, []).get(token)).push(j));
  const found = [];
  const queue = [[0, a.length, 0, b.length]];
  while (queue.length) {
    const [aFrom, aTo, bFrom, bTo] = queue.pop();
    const [i, j, length] = longest(a, places, aFrom, aTo, bFrom, bTo);
    if (!length) continue;
    found.push([i, j, length]);
    if (aFrom < i && bFrom < j) queue.push([aFrom, i, bFrom, j]);
    if (i + length < aTo && j + length < bTo) queue.push([i + length, aTo, j + length, bTo]);
  }
  found.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  // Join adjacent runs.
  const joined = [];
  for (const [i, j, length] of found) {
    const last = joined.at(-1);
    if (last && last[0] + last[2] === i && last[1] + last[2] === j) last[2] += length;
    else joined.push([i, j, length]);
  }
  return joined;
}

export function diff(before, after) {
  const a = tokens(before);
  const b = tokens(after);
  const pieces = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) pieces.push(["removed", removed]);
    if (added) pieces.push(["added", added]);
    removed = added = "";
  };
  let x = 0;
  let y = 0;
  for (const [i, j, length] of [...matches(a, b), [a.length, b.length, 0]]) {
    removed += a.slice(x, i).join("");
    added += b.slice(y, j).join("");
    [x, y] = [i + length, j + length];
    if (!length) continue;
    const kept = a.slice(i, x).join("");
    if (BLANK.test(kept) && (removed || added) && y < b.length && x < a.length) {
      // A blank between two changes belongs to both.
      removed += kept;
      added += kept;
      continue;
    }
    flush();
    pieces.push(["kept", kept]);
  }
  flush();
  return pieces;
}
