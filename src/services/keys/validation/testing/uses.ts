import type { ReportedUse, UsageRecord } from '../../../../../generated/keys/types.ts';
import { newId } from '../../../../lib/ids.ts';

/** A report of one use with the contract's defaults filled in. */
export const reported = (use: Partial<ReportedUse> & { key_id: string }): ReportedUse => ({
  outcome: 'VALID',
  cost: 1,
  method: null,
  endpoint: null,
  status_code: null,
  latency_ms: null,
  ip_address: null,
  origin: null,
  user_agent: null,
  ...use,
});

/** Returns an id as if created at that moment. */
export function idAt(ms: number): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  let time = '';
  // The first ten of 26 digits hold two bits of padding and the 48 bits of the time.
  for (let rest = ms, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32))
    time = alphabet[rest % 32] + time;
  const id = `kuse_${time}${newId('kuse').slice(15)}`;
  return id;
}

/** Returns a record as if created at that moment. */
export function recordAt(ms: number, use: Partial<UsageRecord> = {}): UsageRecord {
  const { key_id = 'key_x', ...rest } = use;
  const created_at = new Date(ms).toISOString();
  return {
    ...reported({ key_id }),
    id: idAt(ms),
    key_id,
    tenant_id: 'acme',
    source: 'report',
    created_at,
    ...rest,
  };
}
