/** Reading events, counting them and reporting on them, against the statements that one would write. */
import type { Database, Sql } from '../../src/db/index.ts';
import { eventStore, orders } from '../../src/services/audit/events/events.store.ts';
import { eventPage } from '../../src/services/audit/events/pages.ts';
import { eventViews } from '../../src/services/audit/events/views.ts';
import { computed } from '../../src/services/audit/reports/computing.ts';
import { standards } from '../../src/services/audit/reports/standards.ts';
import { verifyChain } from '../../src/services/audit/verification/verifier.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { atLeast, atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { medianTimes, paired, timed } from '../statistics.ts';
import { seed } from './history.ts';
import { app, draft, type Log, openLog } from './service.ts';

const [few, many] = [sized(10_000, 500), sized(1_000_000, 5_000)];
const window = { order: orders.desc, limit: 20, offset: 0, after: null };
const pageOf = (sql: Sql, tenant: string) => sql`
  select * from audit.events where tenant_id = ${tenant} and app_id = ${app} and id is not null
  order by timestamp desc, sequence desc limit 20`;

/** A page of events and one event, in a short and in a long stream. */
export function pages(): AsyncIterable<Row> {
  return onServer('a page of events', '≥ 0.5 ×', async function* ({ db }) {
    const log = openLog(db);
    await seed(db, log, 'short', few);
    await seed(db, log, 'long', many);
    const [{ id }] = await db.sql<[{ id: string }]>`
      select id from audit.events where tenant_id = 'long' order by sequence desc limit 1`;
    const page = (tenant: string) => async () => {
      const places = [{ tenant, app }];
      const store = eventStore(db.sql);
      const [rows] = await Promise.all([store.list(places, {}, window), store.count(places, {})]);
      await eventViews({ db, sealer: log.sealer }, eventPage(window, rows).items);
    };
    const one = async () =>
      eventViews({ db, sealer: log.sealer }, [await eventStore(db.sql).get({ app, tenant: 'long' }, id)]);
    const bareOne = () => db.sql`select * from audit.events where id = ${id}`;
    yield* asFast('a page of 20 events', page('short'), () => pageOf(db.sql, 'short'), round(few));
    yield* asFast('a page of 20 events', page('long'), () => pageOf(db.sql, 'long'), round(many));
    yield* asFast('one event', one, bareOne, round(many));
    await log.intake.close();
  });
}

async function* asFast(
  what: string,
  ours: () => Promise<unknown>,
  bare: () => PromiseLike<unknown>,
  events: string,
): AsyncGenerator<Row> {
  const [a, b] = await medianTimes(sized(300, 20), ours, bare);
  yield atLeast(b / a, 0.5, {
    path: `${what} of ${events}`,
    baseline: 'a bare select of the rows',
    measured: `${round(a)} ms against ${round(b)} ms`,
  });
}

/** Statistics and a report over a long history. */
export function counts(): AsyncIterable<Row> {
  // More than are verified with a report, so that what is measured is the report.
  const events = Math.max(many, sized(1_050_000, 5_000));
  return onServer('statistics', '≤ 1.5 ×', async function* ({ db }) {
    const log = openLog(db);
    await seed(db, log, 'acme', events);
    const view = { app, tenant: 'acme' };
    const scan = () => db.sql`
      select severity, outcome, category, count(*) from audit.events
      where tenant_id = 'acme' and app_id = ${app} and id is not null group by 1, 2, 3`;
    const stats = () => eventStore(db.sql).counts(view, {}, 100);
    const soc2 = () => report(db, log);
    for (const [path, ours, most] of [
      [`/stats of ${round(events)} events`, stats, 1.5],
      [`a SOC 2 report of ${round(events)} events`, soc2, 6],
    ] as const) {
      const { ratio, a, b } = await paired(
        () => timed(ours),
        () => timed(scan),
        3,
      );
      yield atMostTimes(ratio, most, {
        path,
        baseline: 'one `group by` over the events',
        measured: `${round(a)} ms against ${round(b)} ms`,
      });
    }
    await log.intake.close();
  });
}

async function report(db: Database, log: Log): Promise<unknown> {
  const { title, sections, signInControl } = standards.soc2;
  const now = Date.now();
  const day = 86_400_000;
  return computed({ db, sealer: log.sealer }, await log.known.of('acme', app), {
    ...{ type: 'soc2', title, sections, signInControl, resourceId: undefined, generatedBy: 'bench' },
    period: { from: new Date(now - 100 * day).toISOString(), to: new Date(now + day).toISOString() },
  });
}

/** A verification against reading the same rows. */
export function verify(): AsyncIterable<Row> {
  const events = sized(100_000, 2_000);
  const path = `verified events of ${round(events)}`;
  return onServer(path, '≥ 0.5 ×', async function* ({ db }) {
    const log = openLog(db);
    for (let stored = 0; stored < events; stored += 500)
      await log.append(Array.from({ length: 500 }, () => draft('acme')));
    await analyze(db);
    const stream = await log.known.of('acme', app);
    const verified = async () => {
      const { report } = await verifyChain({ db, sealer: log.sealer }, stream, { from: 0, to: 0 });
      if (!report.valid || report.verified < events) throw new Error('the chain is not intact');
    };
    const read = async () => {
      for (let from = 1; from <= events; from += 2_000)
        await db.sql`
          select * from audit.events where tenant_id = 'acme' and stream_id = ${stream.id} and sequence between ${from} and ${from + 1_999}
          order by sequence`;
    };
    const { ratio, a, b } = await paired(
      async () => (events * 1_000) / (await timed(verified)),
      async () => (events * 1_000) / (await timed(read)),
      3,
    );
    yield atLeast(ratio, 0.5, {
      path,
      baseline: 'reading the same rows',
      measured: `${round(a)}/s against ${round(b)}/s`,
    });
    await log.intake.close();
  });
}
