import type { ProfileRules } from './types.ts';

/** The rules of one profile, compiled. */
export interface Matcher {
  readonly revision: number;
  /** The size of the programs of all tenant expressions together. */
  readonly programSize: number;
  readonly rules: ProfileRules;
}

export function compile(rules: ProfileRules): Matcher {
  return { revision: rules.revision, programSize: 0, rules };
}
