import type { RejectedUse, ReportedUse, UsageRecord } from '../../../../generated/keys/types.ts';
import { idTime, newId } from '../../../lib/ids.ts';
import { aheadMs } from './periods.ts';

/** Older reports are rejected: an older use may have left the tables, so a repeat could no longer be recognised. */
const oldestMs = 24 * 3_600_000;

/**
 * Splits reported uses into records that can be stored, and rejections by position. `known` holds the tenant's existing keys.
 * `now` is in epoch milliseconds by the database's clock.
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
    const id = use.id ?? newId('kuse', now);
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
