import type { RejectedUse, ReportedUse, UsageRecord } from '../../../../generated/keys/types.ts';
import { idTime, newId } from '../../../lib/ids.ts';
import { aheadMs } from './periods.ts';

/** Older reports are refused: what is older may have left the tables, and a repeat could not be told any more. */
const oldestMs = 24 * 3_600_000;

/**
 * Which reported uses can be stored, as records, and which cannot, by their place. `known` are the keys of the tenant that
 * exist, `now` is in epoch milliseconds.
 */
export function sortReport(
  uses: readonly ReportedUse[],
  tenant: string,
  known: ReadonlySet<string>,
  now: number,
): { accepted: UsageRecord[]; rejected: RejectedUse[] } {
  const accepted: UsageRecord[] = [];
  const rejected: RejectedUse[] = [];
  for (const [index, use] of uses.entries()) {
    const id = use.id ?? newId('kuse');
    const made = idTime(id);
    const error = problemOf(use.key_id, made);
    if (error !== undefined) rejected.push({ index, error });
    else accepted.push(recordOf(use, id, made, tenant));
  }
  return { accepted, rejected };

  function problemOf(key: string, made: number): string | undefined {
    if (!known.has(key)) return 'key not found';
    if (made < now - oldestMs) return 'id: made more than 24 hours ago';
    if (made > now + aheadMs) return 'id: made in the future';
    return undefined;
  }
}

function recordOf(use: ReportedUse, id: string, made: number, tenant: string): UsageRecord {
  return {
    id,
    key_id: use.key_id,
    tenant_id: tenant,
    source: 'report',
    outcome: use.outcome,
    cost: use.cost,
    method: use.method,
    endpoint: use.endpoint,
    status_code: use.status_code,
    latency_ms: use.latency_ms,
    ip_address: use.ip_address,
    origin: use.origin,
    user_agent: use.user_agent,
    created_at: new Date(made).toISOString(),
  };
}
