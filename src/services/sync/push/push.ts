import type { PushRequest, PushResponse } from '../../../../generated/sync/types.ts';
import { latestTimestamp, toText, unpack } from '../../../../sdk/src/sync/hlc.ts';
import type { Context } from '../../../http/context.ts';
import { newId } from '../../../lib/ids.ts';
import { datasetOf, type Subject, subjectOf } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { ClockDrift, LimitReached, NodeOfAnother, ResyncRequired } from '../errors.ts';
import { contextOf } from '../hooks/hooks.ts';
import { mostTables } from '../limits.ts';
import { type Arrivals, arrivalsOf } from './arrivals.ts';
import { checkPush } from './changes.ts';
import type { PushLine } from './push-line.ts';
import type { Push, Verdict } from './push.store.ts';

type PushDeps = Pick<Deps, 'settings' | 'hooks' | 'wake' | 'resyncs'> & { readonly line: PushLine };

/** Merges the changes of a node. */
export const pushHandler =
  ({ settings, hooks, wake, resyncs, line }: PushDeps) =>
  async ({ body }: { body: PushRequest }, context: Context): Promise<PushResponse> => {
    const [dataset, subject] = [datasetOf(context), subjectOf(context)];
    const { Changes, NodeID } = body;
    checkPush(body, subject.exempt, settings.maxChanges);
    const seen = contextOf(dataset, { subject: subject.owner, nodeId: NodeID, via: 'push' });
    const stored = await hooks.inbound(Changes, seen);
    const arrivals = await arrivalsOf(Changes, stored);
    const verdict = await line.merge(dataset, pushOf(NodeID, subject, arrivals, Changes.length));
    if (verdict.verdict === 'stale') await resyncs.note(dataset, { node: NodeID, subject }, 'stale changes');
    checkVerdict(verdict, body, settings.maxDriftMs);
    if (Changes.length > 0) wake(dataset);
    await hooks.stored(stored, seen);
    return {
      Merged: Changes.length,
      LatestHLC: unpack(BigInt(verdict.reading), '@clock'),
      Replaced: arrivals.replaced,
    };
  };

function pushOf(node: string, subject: Subject, arrivals: Arrivals, merged: number): Push {
  const { highest, counts: tables, replaced } = arrivals;
  const latest_hlc = toText(unpack(highest, node));
  const pushedData =
    merged === 0 ? null : JSON.stringify({ node_id: node, merged, replaced, tables, latest_hlc });
  return {
    ...{ node, subject, arrivals },
    events: { claimed: newId('evt'), pushed: newId('evt'), pushedData },
  };
}

/** Throws the refusal of a push that was not merged. */
function checkVerdict({ verdict, now_ms }: Verdict, { Changes }: PushRequest, maxDriftMs: number): void {
  if (verdict === 'owner') throw NodeOfAnother();
  if (verdict === 'stale') throw ResyncRequired();
  if (verdict === 'tables') throw LimitReached(mostTables, 'tables');
  if (verdict !== 'drift') return;
  const latest = Math.min(now_ms + maxDriftMs, latestTimestamp);
  const at = Changes.findIndex(({ hlc }) => hlc.timestamp > latest);
  throw ClockDrift(at, Changes[at]!.hlc.timestamp - now_ms, maxDriftMs);
}
