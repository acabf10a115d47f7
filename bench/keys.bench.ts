/** The hot paths of `keys` against their baselines. */
import { fold } from './keys/fold.ts';
import { cold, hotKey, revocation } from './keys/processes.ts';
import { statements } from './keys/statements.ts';
import { validate } from './keys/validate.ts';
import type { Measurements } from './row.ts';

export default { validate, statements, cold, hotKey, revocation, fold } satisfies Measurements;
