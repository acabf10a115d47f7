import type { Deed, Item } from '../contract/plans.ts';
import { act, onItem, removeAll } from './acting.ts';
import { exampleFor } from './answering.ts';
import { missing, type Call, type Outcome } from './call.ts';
import { recordOf } from './finding.ts';
import { list } from './listing.ts';
import { attach, create } from './making.ts';
import type { Step } from './steps.ts';

/** Performs the operation and returns its answer, or undefined when the answer is the example. */
export function outcomeOf(call: Call): Outcome | undefined {
  const steps: Step[] = [];
  for (const item of call.plan.within) {
    const record = recordOf(call, item, steps);
    if (!record) return isCreatedBy(call, item) ? exampleFor(call, steps) : missing(call);
    steps.push({ item, record });
  }
  return done(call, call.plan.deed, steps);
}

/** Whether the operation acts on a record that a PUT creates, and that it may create as well: a part that is copied. */
const isCreatedBy = ({ document, plan: { deed, within } }: Call, item: Item): boolean =>
  deed.does === 'act' && item === within.at(-1) && document.paths[item.path]?.['put'] !== undefined;

function done(call: Call, deed: Deed, steps: readonly Step[]): Outcome | undefined {
  switch (deed.does) {
    case 'create':
      return create(call, deed, steps);
    case 'attach':
      return attach(call, deed, steps);
    case 'list':
      return list(call, deed, steps);
    case 'removeAll':
      return removeAll(call, deed, steps);
    case 'act':
      return act(call, deed, steps);
    default:
      return onItem(call, deed, steps);
  }
}
