import { givenTexts } from '../../../db/given.ts';
import type { Sql } from '../../../db/index.ts';
import type { Dataset, Subject } from '../dataset.ts';
import { mostNodes, mostTopics } from '../limits.ts';

/** The presence of a node on a topic, or that it left. */
export interface PresenceRow {
  readonly topic: string;
  readonly node_id: string;
  /** Canonical JSON. */
  readonly data: string;
  readonly present: boolean;
  readonly joined_rev: number;
  readonly rev: number;
}

export interface Announcement {
  readonly topic: string;
  readonly node: string;
  /** Canonical JSON; null to leave. */
  readonly data: string | null;
  readonly ttlMs: number;
  readonly subject: Subject;
  /** The id of the event by which the node id is claimed. */
  readonly claimed: string;
}

/** What an announcement did: `same` renewed the time only, `absent` found nothing to leave; the last three are refusals. */
export type Announced = 'join' | 'update' | 'same' | 'leave' | 'absent' | 'owner' | 'topic' | 'node';

export interface StoredPresence {
  readonly node_id: string;
  readonly data: string;
  readonly updated_at: string;
  readonly expires_at: string;
}

export const presenceStore = (sql: Sql) => ({
  async announce(
    { tenant, app }: Dataset,
    { topic, node, data, ttlMs, subject, claimed }: Announcement,
  ): Promise<Announced> {
    const { owner, exempt, actor, requestId } = subject;
    const [row] = await sql<[{ announced: Announced }]>`
      select sync.announce(
        ${tenant}, ${app}, ${topic}, ${node}, ${data}::text, ${ttlMs}, ${mostNodes}, ${mostTopics},
        ${owner}, ${String(exempt)}::text::boolean, ${claimed}, ${actor}, ${requestId}
      ) as announced`;
    return row.announced;
  },

  /** Who is on a topic, by node id. */
  async onTopic({ tenant, app }: Dataset, topic: string): Promise<StoredPresence[]> {
    return await sql<StoredPresence[]>`
      select node_id, data, updated_at, expires_at from sync.presence
      where tenant_id = ${tenant} and app_id = ${app} and topic = ${topic} and present and expires_at > clock_timestamp()
      order by node_id limit ${mostNodes}`;
  },

  /** What changed after a revision, in the order of the revisions. */
  async after(
    { tenant, app }: Dataset,
    rev: number,
    limit: number,
  ): Promise<{ rows: PresenceRow[]; hasMore: boolean }> {
    const rows = await sql<PresenceRow[]>`
      select topic, node_id, data, present, joined_rev, rev from sync.presence
      where tenant_id = ${tenant} and app_id = ${app} and rev > ${rev}
      order by rev limit ${limit + 1}`;
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  },

  /** The last revisions of data sets, in their order; 0 where there is none. */
  async revisions(datasets: readonly Dataset[]): Promise<number[]> {
    const [tenants, apps] = [datasets.map(({ tenant }) => tenant), datasets.map(({ app }) => app)];
    const rows = await sql<{ rev: number }[]>`
      select coalesce(rev, 0) as rev
      from ${givenTexts(sql, tenants, apps)} with ordinality as asked(tenant_id, app_id, position)
      left join sync.presence_clocks using (tenant_id, app_id)
      order by position`;
    return rows.map(({ rev }) => rev);
  },

  /** Lets those leave whose time has passed, and returns their data sets. */
  async expire(batch: number): Promise<Dataset[]> {
    return await sql<
      Dataset[]
    >`select tenant_id as tenant, app_id as app from sync.expire_presence(${batch})`;
  },
});
