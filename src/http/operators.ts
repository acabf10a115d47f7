import { isRoot } from './caller.ts';
import type { Context } from './context.ts';

/** Whether the operator decides: root does also where a header names the tenant, unless it speaks for somebody there. */
export const isOperators = (context: Pick<Context, 'operator' | 'caller' | 'userId' | 'holds'>): boolean =>
  context.operator || (isRoot(context.caller) && context.userId === null && context.holds('*'));
