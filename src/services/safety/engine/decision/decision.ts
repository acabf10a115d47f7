import type { Action, Decision } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';

/** Actions from the weakest to the strongest, and the decisions that they lead to. */
const strengths: readonly Action[] = ['log', 'flag', 'redact', 'block'];

export const strengthOf = (action: Action): number => strengths.indexOf(action);

/** The strongest action of any finding decides, so that no finding can lower a decision. */
export function decisionOf(drafts: readonly Draft[]): Decision {
  let strongest = 0;
  for (const { action } of drafts) strongest = Math.max(strongest, strengthOf(action));
  const action = strengths[strongest]!;
  return action === 'log' ? 'allow' : action;
}
