/** Keys to validate, written directly as rows: the data that the service would store, in a few statements. */
import type { Database } from '../../src/db/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { makeRawKey, makeTag } from '../../src/services/keys/validation/raw-key.ts';

export interface Seeded {
  /** Keys without a policy. */
  free: string[];
  /** Keys whose policy allows 1,000 units per minute. */
  limited: string[];
}

export async function seedKeys(db: Database, counts: { free: number; limited: number }): Promise<Seeded> {
  const tag = makeTag();
  const policy = newId('kpol');
  return db.maintenance(async (sql) => {
    await sql`insert into keys.tenants (tag, tenant_id) values (${tag}, 'default')`;
    await sql`
      insert into keys.policies (
        id, tenant_id, app_id, name, description, rate_limit, rate_window, allowed_ips, allowed_origins, allowed_scopes,
        grace_period, require_context
      )
      values (${policy}, 'default', 'default', 'a thousand', '', 1000, '1m', '{}', '{}', '{}', '24h', false)`;
    const insert = async (count: number, policyId: string | null) => {
      const made = Array.from({ length: count }, () => ({
        id: newId('key'),
        ...makeRawKey({ prefix: 'sk', environment: 'live', tag }),
      }));
      for (let from = 0; from < count; from += 5_000) {
        const some = made.slice(from, from + 5_000);
        const [ids, hints] = [some.map(({ id }) => id), some.map(({ hint }) => hint)];
        await sql`
          insert into keys.keys (
            id, tenant_id, app_id, name, description, prefix, environment, hint, scopes, policy_id, metadata, created_by
          )
          select id, 'default', 'default', id, '', 'sk', 'live', hint, array['read:users'], ${policyId}, '{}', 'root'
          from unnest(${ids}::text[], ${hints}::text[]) as given (id, hint)`;
        await sql`
          insert into keys.secrets (tenant_id, hash, key_id, hint)
          select 'default', decode(hash, 'hex'), id, hint
          from unnest(${ids}::text[], ${hints}::text[], ${some.map(({ hash }) => hash)}::text[]) as given (id, hint, hash)`;
      }
      return made.map(({ rawKey }) => rawKey);
    };
    const seeded = { free: await insert(counts.free, null), limited: await insert(counts.limited, policy) };
    await sql`analyze keys.keys, keys.secrets`;
    return seeded;
  });
}

/** Returns `calls` items, 90 % of them from the first tenth. */
export function skewed<Item>(items: readonly Item[], calls: number): Item[] {
  const hot = Math.ceil(items.length / 10);
  // Strides without a common factor with the counts visit all items in a scattered order.
  const others = Math.max(1, items.length - hot);
  return Array.from({ length: calls }, (_, turn) =>
    turn % 10 === 9 && items.length > hot
      ? items[hot + ((turn * 7919) % others)]!
      : items[(turn * 7919) % hot]!,
  );
}
