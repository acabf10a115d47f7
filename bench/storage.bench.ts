/** The storage: what putting and getting content costs, and what completions and listings cost however much there is. */
import type { Measurements } from './row.ts';
import { casPuts } from './storage/cas.ts';
import { completeFew, completeMany } from './storage/completion.ts';
import { getLarge, getSmall } from './storage/gets.ts';
import { emptying } from './storage/emptying.ts';
import { listing } from './storage/listing.ts';
import { putLarge, putSmall } from './storage/puts.ts';

export default {
  ...{ putLarge, putSmall, getLarge, getSmall, casPuts, completeFew, completeMany, listing, emptying },
} satisfies Measurements;
