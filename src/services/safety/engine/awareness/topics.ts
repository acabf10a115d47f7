import type { RuleHit } from '../rules/rule-index.ts';
import { noisyOr, rounded } from '../rules/weights.ts';

/** How much a keyword of the app counts for its topic. */
export const ownKeywordWeight = 0.6;

export interface Scored {
  readonly score: number;
  /** The place that counts the most. */
  readonly span: readonly [start: number, end: number] | undefined;
}

/** The score of a group of built-in terms, such as `topic/drugs`. */
export function scoreOf(group: string, hits: readonly RuleHit[], more: readonly number[] = []): Scored {
  const own = hits.filter(({ rule }) => rule.groups.includes(group));
  const strongest = own.reduce<RuleHit | undefined>(
    (best, hit) => (best === undefined || hit.weight > best.weight ? hit : best),
    undefined,
  );
  return {
    score: rounded(noisyOr([...own.map(({ weight }) => weight), ...more])),
    span: strongest && [strongest.start, strongest.end],
  };
}
