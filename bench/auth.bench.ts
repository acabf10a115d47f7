/** The hot paths of `auth` against their baselines. */
import { coldCheck } from './auth/cold-check.ts';
import { introspect } from './auth/introspect.ts';
import { overload } from './auth/overload.ts';
import { refreshing } from './auth/refresh.ts';
import { resolve } from './auth/resolve.ts';
import { revocation } from './auth/revocation.ts';
import { sessionCheck } from './auth/session-check.ts';
import { signin } from './auth/signin.ts';
import { token } from './auth/token.ts';
import type { Measurements } from './row.ts';

export default {
  sessionCheck,
  coldCheck,
  resolve,
  revocation,
  signin,
  overload,
  refresh: refreshing,
  token,
  introspect,
} satisfies Measurements;
