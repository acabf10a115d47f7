import type { EnforceResult } from '../../../../generated/audit/types.ts';
import type { View } from '../../../db/view.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { purgedAction, RunDigest } from '../record/runs.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { serviceFor, type Write } from '../writes.ts';
import { archiveDraftStore } from './archive-drafts.store.ts';
import type { ArchiveFiles } from './archive-files.ts';
import { type WrittenArchive, written } from './archiving.ts';
import { type DuePolicy, policyStore } from './policies.store.ts';
import { type DueEvent, purgeStore } from './purge.store.ts';

export type EnforcerDeps = Pick<Deps, 'db' | 'known' | 'write' | 'log'> & {
  /** Undefined when nothing is archived: policies that ask for an archive then purge nothing. */
  readonly files: ArchiveFiles | undefined;
};

/** What one call may do; the next one goes on from there. */
export interface Bounds {
  readonly events: number;
  readonly ms: number;
}

export const callBounds: Bounds = { events: 200_000, ms: 60_000 };

/** The events of one run: so few that nobody waits long for its transaction. */
const mostOfRun = 1_000;
const policiesAtOnce = 100;

/** Enforces the policies of a view, or of everybody. */
export async function enforce(
  deps: EnforcerDeps,
  view: View | undefined,
  bounds: Bounds,
  signal?: AbortSignal,
): Promise<EnforceResult> {
  const until = performance.now() + bounds.ms;
  const result = { archived: 0, purged: 0, retained: 0, complete: true };
  const isOver = () =>
    result.purged >= bounds.events || performance.now() > until || signal?.aborted === true;
  for await (const policy of policies(deps, view)) {
    for (let run: Purged | undefined; ;) {
      if (isOver()) {
        result.complete = false;
        break;
      }
      run = await purgeSome(deps, policy);
      if (run === undefined) break;
      result.purged += run.count;
      result.archived += policy.archive ? run.count : 0;
    }
    result.retained += await purgeStore(deps.db.background).covered(policy);
  }
  return result;
}

async function* policies({ db }: Pick<Deps, 'db'>, view: View | undefined): AsyncGenerator<DuePolicy> {
  for (let after = ''; ;) {
    const page = await policyStore(db.background).due(view, after, policiesAtOnce);
    yield* page;
    if (page.length < policiesAtOnce) return;
    after = page.at(-1)!.id;
  }
}

interface Purged {
  readonly count: number;
}

/** Purges the oldest events that a policy no longer keeps; undefined when there are none, or they cannot be archived. */
async function purgeSome(deps: EnforcerDeps, policy: DuePolicy): Promise<Purged | undefined> {
  const { db, known, files, log } = deps;
  if (policy.archive && files === undefined) return undefined;
  const due = await purgeStore(db.background).due(policy, mostOfRun);
  const stream = await known.find(policy.tenant_id, policy.app_id);
  if (due.length === 0 || stream === undefined) return undefined;
  try {
    const archive = policy.archive ? await written(deps, files!, stream, due) : undefined;
    return await deps.write(serviceFor(policy.tenant_id, policy.app_id), (write) =>
      purged(write, { policy, stream, due, archive }),
    );
  } catch (error) {
    log.error({ err: error, policy: policy.id }, 'events could not be purged');
    return undefined;
  }
}

interface Run {
  readonly policy: DuePolicy;
  readonly stream: KnownStream;
  readonly due: readonly DueEvent[];
  readonly archive: WrittenArchive | undefined;
}

/** Purges events and says so in the chain, with the digest of what is left of them. Nothing when somebody else was faster. */
async function purged(
  { sql, act, emit }: Write,
  { policy, stream, due, archive }: Run,
): Promise<Purged | undefined> {
  if (!(await policyStore(sql).lock(policy))) return undefined;
  const store = purgeStore(sql);
  const runId = newId('retrun');
  const sequences = due.map(({ sequence }) => sequence);
  const owner = { tenant_id: stream.tenant, id: stream.id };
  const count = await store.purge(owner, runId, sequences);
  if (count < due.length) throw new Error('events were purged by another process meanwhile');
  const digest = new RunDigest();
  for (const { sequence, hash } of due) digest.add(sequence, hash);
  const archive_id = archive === undefined ? null : newId('archive');
  const times = due.map(({ timestamp }) => timestamp).sort();
  const told = {
    policy_id: policy.id,
    count,
    first_sequence: digest.first,
    last_sequence: digest.last,
    archive_id,
    ...{ category: policy.category, from_timestamp: times[0]!, to_timestamp: times.at(-1)! },
  };
  if (archive !== undefined && archive_id !== null) {
    const { draft, file } = archive;
    if (!(await archiveDraftStore(sql).end(draft))) throw new Error('an archive was removed meanwhile');
    await store.insertArchive({
      ...{
        id: archive_id,
        tenant_id: stream.tenant,
        app_id: stream.app,
        policy_id: policy.id,
        category: policy.category,
      },
      ...{ event_count: count, from_timestamp: times[0]!, to_timestamp: times.at(-1)!, sink_name: 'file' },
      ...{
        sink_ref: file.ref,
        stream_id: stream.id,
        first_sequence: digest.first,
        last_sequence: digest.last,
      },
      ...{ sha256: file.sha256, size_bytes: file.size },
    });
  }
  await act({
    action: purgedAction,
    resource: 'retention',
    resource_id: runId,
    metadata: { run_id: runId, ...told, digest: digest.text() },
  });
  await store.count(owner, count);
  emit('audit.retention.enforced', policy.id, { run_id: runId, ...told });
  return { count };
}
