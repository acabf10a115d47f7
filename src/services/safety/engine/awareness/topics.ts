import type { RuleHit } from '../rules/rule-index.ts';
import { noisyOr, rounded } from '../rules/weights.ts';

/** How much a keyword of the app counts for its topic. */
export const ownKeywordWeight = 0.6;

export interface Scored {
  readonly score: number;
  /** The place that counts the most. */
  readonly span: readonly [start: number, end: number] | undefined;
}

/** The score of a group of built-in terms, such as `topic/drugs`: that of the window in which it is highest. */
export function scoreOf(
  group: string,
  windows: readonly (readonly RuleHit[])[],
  more: readonly number[] = [],
): Scored {
  let best: Scored = { score: more.length > 0 ? rounded(noisyOr(more)) : 0, span: undefined };
  for (const hits of windows) {
    const own = hits.filter(({ rule }) => rule.groups.includes(group));
    if (own.length === 0) continue;
    const score = rounded(noisyOr([...own.map(({ weight }) => weight), ...more]));
    if (score <= best.score) continue;
    const strongest = own.reduce((most, hit) => (hit.weight > most.weight ? hit : most));
    best = { score, span: [strongest.start, strongest.end] };
  }
  return best;
}
