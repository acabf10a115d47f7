/** The storage: what putting and getting content costs, and what completions and listings cost however much there is. */
import type { Measurements } from './row.ts';
import { getLarge, getSmall } from './storage/gets.ts';
import { putLarge, putSmall } from './storage/puts.ts';

export default {
  ...{ putLarge, putSmall, getLarge, getSmall },
} satisfies Measurements;
