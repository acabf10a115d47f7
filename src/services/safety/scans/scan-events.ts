import type { ScanResult } from '../../../../generated/safety/types.ts';
import type { Event } from '../../../db/outbox.ts';
import type { Alert } from '../engine/index.ts';

const decided = {
  block: 'safety.scan.blocked',
  flag: 'safety.scan.flagged',
  redact: 'safety.scan.redacted',
} as const;

const raised = { alert: 'safety.alert.raised', escalation: 'safety.escalation.raised' } as const;

/** The events of a scan: what was decided, without the text; and what the rules raise. Allowed scans have none of the first kind. */
export function eventsOf(result: ScanResult, alerts: readonly Alert[], actor: string): Event[] {
  const { redacted: _, redacted_messages: __, metadata: ___, ...shown } = result;
  const common = {
    source: '/safety' as const,
    subject: result.id,
    tenant: result.tenant_id,
    app: result.app_id,
    actor,
  };
  const events: Event[] = alerts.map(({ event, ...alert }) => ({
    ...common,
    type: raised[event],
    data: { scan_id: result.id, direction: result.direction, decision: result.decision, ...alert },
  }));
  if (result.decision !== 'allow') events.unshift({ ...common, type: decided[result.decision], data: shown });
  return events;
}
