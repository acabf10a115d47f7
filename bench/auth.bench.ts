/** The hot paths of `auth` against their baselines. */
import { signin } from './auth/signin.ts';
import type { Measurements } from './row.ts';

export default { signin } satisfies Measurements;
