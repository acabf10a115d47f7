/** The candidate that needs the fewest insertions, deletions and replacements of characters; the first one in a tie. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const measured = candidates.map((candidate) => ({ candidate, steps: editDistance(word, candidate) }));
  return measured.reduce<{ candidate?: string; steps: number }>(
    (best, next) => (next.steps < best.steps ? next : best),
    { steps: Infinity },
  ).candidate;
}

/** The Levenshtein distance. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = above[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
  }
  return row[other.length]!;
}
