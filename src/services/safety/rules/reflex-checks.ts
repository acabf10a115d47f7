import type {
  ReflexAction,
  ReflexActionType,
  ReflexCreate,
  Trigger,
  TriggerType,
} from '../../../../generated/safety/types.ts';
import { Invalid } from '../../../lib/errors.ts';

/** The members that a type needs, and those that it may have besides. */
interface Members {
  readonly needed: readonly string[];
  readonly possible?: readonly string[];
}

const ofTriggers: Readonly<Record<TriggerType, Members>> = {
  on_score: { needed: ['threshold'], possible: ['pattern'] },
  on_finding: { needed: ['pattern'] },
  on_pattern: { needed: ['pattern'] },
  on_context: { needed: ['path', 'operator'], possible: ['value'] },
  always: { needed: [] },
};

const ofActions: Readonly<Record<ReflexActionType, Members>> = {
  block: { needed: [] },
  flag: { needed: [] },
  redact: { needed: ['target'], possible: ['fallback'] },
  rewrite: { needed: ['value'] },
  escalate: { needed: [] },
  log: { needed: [] },
};

/** The most bytes of a value of the context to compare with. */
const mostValue = 1_024;

/** Checks that each trigger and action has what its type needs, and nothing that it would ignore. @throws Invalid */
export function checkReflex({ triggers, actions }: ReflexCreate): void {
  triggers.forEach((trigger, index) => {
    const field = `triggers[${index}]`;
    checkMembers(field, trigger.type, trigger, ofTriggers[trigger.type]);
    if (trigger.type === 'on_context') checkComparison(field, trigger);
  });
  actions.forEach((action, index) => {
    const field = `actions[${index}]`;
    checkMembers(field, action.type, action, ofActions[action.type]);
    checkFallback(field, action);
  });
}

function checkMembers(field: string, type: string, given: object, { needed, possible = [] }: Members): void {
  const missing = needed.find((name) => !Object.hasOwn(given, name));
  if (missing !== undefined) throw Invalid(`${field}.${missing}: required for ${type}`);
  const idle = Object.keys(given).find(
    (name) => name !== 'type' && !needed.includes(name) && !possible.includes(name),
  );
  if (idle !== undefined) throw Invalid(`${field}.${idle}: not for ${type}`);
}

function checkComparison(field: string, { operator, value }: Trigger): void {
  if (operator === 'exists') {
    if (value !== undefined) throw Invalid(`${field}.value: not for exists`);
    return;
  }
  if (value === undefined) throw Invalid(`${field}.value: required for ${operator}`);
  if (operator === 'in' && !Array.isArray(value)) throw Invalid(`${field}.value: must be an array for in`);
  if ((operator === 'gt' || operator === 'lt') && typeof value !== 'number')
    throw Invalid(`${field}.value: must be a number for ${operator}`);
  if (Buffer.byteLength(JSON.stringify(value)) > mostValue)
    throw Invalid(`${field}.value: larger than ${mostValue} bytes`);
}

/** An action that needs more than its type cannot take the place of another one. */
function checkFallback(field: string, { fallback }: ReflexAction): void {
  if (fallback !== undefined && ofActions[fallback].needed.length > 0)
    throw Invalid(`${field}.fallback: must be an action that needs nothing further`);
}
