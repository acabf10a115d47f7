import type { Direction } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';
import type { Facts } from '../facts.ts';
import type { ProfileRules, Alert } from '../types.ts';

/** What the layers have found so far. */
export interface Progress {
  readonly drafts: Draft[];
  readonly alerts: Alert[];
  /** Parts that did not run, and why. */
  readonly skipped: string[];
  /** Replies to a blocked text, the most important first. */
  readonly replies: { readonly boundary: string[]; readonly policy: string[]; readonly reflex: string[] };
  /** What a reflex puts in the place of the text. */
  rewritten: string | undefined;
  /** Whether all that the profile redacts by itself is known. */
  hasPerceived: boolean;
}

export interface LayerInput {
  readonly rules: ProfileRules;
  readonly facts: Facts;
  readonly progress: Progress;
}

export type LayerRun = (input: LayerInput) => Promise<void>;

export const applies = ({ directions }: { readonly directions: readonly Direction[] }, { input }: Facts) =>
  directions.includes(input.direction);
