/** The hot paths of `authz` against their baselines. */
import { cerbos } from './authz/cerbos.ts';
import { overHttp } from './authz/http.ts';
import { partial } from './authz/partial.ts';
import { propagation } from './authz/propagation.ts';
import { rbac } from './authz/rbac.ts';
import { listing, modelLoad, rebac } from './authz/tree.ts';
import { writes } from './authz/writes.ts';
import type { Measurements } from './row.ts';

export default {
  rbac,
  rebac,
  overHttp,
  cerbos,
  partial,
  modelLoad,
  writes,
  propagation,
  listing,
} satisfies Measurements;
