import { isDeepStrictEqual } from 'node:util';
import type { Policies } from '../../../generated/keys/server.ts';
import type { Policy } from '../../../generated/keys/types.ts';
import type { Database } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { policyStore, type PolicyChange } from './policies.store.ts';
import { storedTerms } from './policy-terms.ts';
import { checkNotItsPolicy } from './rights.ts';
import type { Write, Writer } from './writes.ts';

/** Policies: limits that keys share. */
export const policies = ({ db, write }: { db: Database; write: Writer }) =>
  ({
    create: ({ body }, context) =>
      write(context, async ({ sql, emit }) => {
        const { tenant, app } = context;
        const id = newId('kpol');
        await policyStore(sql).insert({ ...storedTerms(body), id, tenant_id: tenant, app_id: app });
        emit('keys.policy.created', id, { name: body.name });
        return await policyStore(sql).get(tenant, id);
      }),

    async list(request, { tenant, reply }) {
      const window = windowOf(request);
      const found = await policyStore(db.sql).list(tenant, window);
      return answerPage(reply, window, found);
    },

    get: ({ policyId }, { tenant }) => policyStore(db.sql).get(tenant, policyId),

    update: ({ policyId, body }, context) =>
      write(context, (policyWrite) => changePolicy(policyWrite, policyId, storedTerms(body))),

    delete: ({ policyId }, context) =>
      write(context, async ({ sql, emit }) => {
        const store = policyStore(sql);
        await store.lock(context.tenant, policyId);
        const { name, key_count } = await store.get(context.tenant, policyId);
        if (key_count > 0) throw Conflict(`policy is used by ${keys(key_count)}`);
        await store.delete(context.tenant, policyId);
        emit('keys.policy.deleted', policyId, { name });
      }),
  }) satisfies Policies<Context>;

/** Changes the members that differ, for all keys of the policy at once. */
async function changePolicy(
  { sql, context, changed, emit }: Write,
  id: string,
  body: PolicyChange,
): Promise<Policy> {
  const store = policyStore(sql);
  await store.lock(context.tenant, id);
  const policy = await store.get(context.tenant, id);
  const change = differing(policy, body);
  const fields = Object.keys(change);
  if (fields.length === 0) return policy;

  await checkNotItsPolicy(sql, context, id);
  await checkHeld(sql, policy, change.allowed_scopes);
  await store.update(context.tenant, id, change);
  changed('policy', id);
  emit('keys.policy.updated', id, { fields });
  return await store.get(context.tenant, id);
}

/** Checks that a policy does not forbid scopes that its keys already hold. */
async function checkHeld(
  sql: Write['sql'],
  { tenant_id, id }: Policy,
  allowed: readonly string[] = [],
): Promise<void> {
  if (allowed.length === 0) return;
  const outside = await policyStore(sql).keysOutside(tenant_id, id, allowed);
  if (outside > 0)
    throw Conflict(`allowed_scopes: ${keys(outside)} ${outside === 1 ? 'holds' : 'hold'} other scopes`);
}

const differing = (policy: Policy, body: PolicyChange): PolicyChange =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, policy[name as keyof PolicyChange]),
    ),
  );

const keys = (count: number) => (count === 1 ? '1 key' : `${count} keys`);
