import type { ScanStatistics } from '../../../../generated/safety/types.ts';
import type { Count } from './stats.store.ts';

/** Sums by direction and by decision; redacted scans have no member of their own. */
export function statisticsOf(counts: readonly Count[]): ScanStatistics {
  const sum = (of: (count: Count) => boolean) =>
    counts.filter(of).reduce((total, { n }) => total + Number(n), 0);
  const decided = (decision: Count['decision']) => sum((count) => count.decision === decision);
  const by_decision = {
    allow: decided('allow'),
    flag: decided('flag'),
    redact: decided('redact'),
    block: decided('block'),
  };
  return {
    total_scans: sum(() => true),
    blocked_count: by_decision.block,
    flagged_count: by_decision.flag,
    allowed_count: by_decision.allow,
    by_direction: {
      input: sum(({ direction }) => direction === 'input'),
      output: sum(({ direction }) => direction === 'output'),
    },
    by_decision,
  };
}
