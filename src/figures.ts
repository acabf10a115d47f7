import { backgroundWork } from './db/engine/background-work.ts';
import type { Engine, JobBacklog } from './db/engine/index.ts';
import type { Database } from './db/index.ts';
import { type Backlog, relayBacklog } from './db/relay/backlog.ts';
import type { Figure, FigureValue } from './http/metrics.ts';
import type { QueueFigures } from './http/service.ts';
import { strayErrors } from './lib/stray-errors.ts';

/** Milliseconds that a scrape waits for the database; then it answers without it, because metrics must work when the database does not. */
const patience = 1_000;

export interface FigureSources {
  readonly db: Pick<Database, 'pools' | 'store' | 'background'>;
  readonly engine: Pick<Engine, 'tally' | 'backlog'>;
  /** The numbers of requests that have a turn and that wait for one. */
  readonly turns: () => { readonly running: number; readonly waiting: number };
  /** The queues of the services. */
  readonly queues: () => readonly QueueFigures[];
}

/** The figures of `/metrics` besides those of requests: connections, queues, background work, jobs, backlog and database. */
export const serverFigures = ({ db, engine, turns, queues }: FigureSources): Figure[] => [
  ...turnFigures(turns),
  ...queueFigures(queues),
  ...connectionFigures(db),
  ...workFigures(),
  counter('plinth_stray_errors_total', 'Errors outside of every request and of all background work.', () => [
    { labels: {}, value: strayErrors() },
  ]),
  ...jobFigures(engine),
  ...storeFigures(db),
  ...relayFigures(db),
];

const turnFigures = (turns: FigureSources['turns']): Figure[] => [
  sum('plinth_requests_running', 'Requests that have their turn at the database.', () => [
    { labels: {}, value: turns().running },
  ]),
  sum('plinth_requests_waiting', 'Requests that wait for their turn.', () => [
    { labels: {}, value: turns().waiting },
  ]),
];

function queueFigures(queues: FigureSources['queues']): Figure[] {
  const ofQueues = (member: 'running' | 'waiting' | 'refused') => () =>
    queues().map(({ queue, ...figures }) => ({ labels: { queue }, value: figures[member] }));
  return [
    sum('plinth_queue_running', 'Work of a bounded queue that goes on now.', ofQueues('running')),
    sum(
      'plinth_queue_waiting',
      'Requests that wait for their place in a bounded queue.',
      ofQueues('waiting'),
    ),
    counter(
      'plinth_queue_refused_total',
      'Requests that were refused because a bounded queue was full.',
      ofQueues('refused'),
    ),
  ];
}

function connectionFigures(db: FigureSources['db']): Figure[] {
  const pools = (member: 'open' | 'busy' | 'waiting') => () =>
    db.pools().map(({ pool, ...figures }) => ({ labels: { pool }, value: figures[member] }));
  return [
    sum('plinth_database_connections', 'Connections to the database.', pools('open')),
    sum('plinth_database_connections_busy', 'Connections that carry something out.', pools('busy')),
    sum(
      'plinth_database_waiting',
      'Statements and transactions that wait for a connection.',
      pools('waiting'),
    ),
  ];
}

function workFigures(): Figure[] {
  const work = (valueOf: (one: ReturnType<typeof backgroundWork>[number]) => number | undefined) => () =>
    backgroundWork().flatMap((one) => {
      const value = valueOf(one);
      return value === undefined ? [] : [{ labels: { work: one.name }, value }];
    });
  return [
    counter(
      'plinth_background_runs_total',
      'Runs of background work.',
      work(({ runs }) => runs),
    ),
    counter(
      'plinth_background_failures_total',
      'Runs that failed.',
      work(({ failures }) => failures),
    ),
    sum(
      'plinth_background_running',
      'Runs that go on now.',
      work(({ running }) => running),
    ),
    max(
      'plinth_background_succeeded_timestamp_seconds',
      'When background work last succeeded in a process.',
      work(({ succeededAt }) => succeededAt && succeededAt / 1_000),
    ),
  ];
}

function jobFigures(engine: FigureSources['engine']): Figure[] {
  const queues = () => [...engine.tally().queues];
  const backlog = oncePerScrape(() => engine.backlog());
  const waiting = (valuesOf: (all: readonly JobBacklog[]) => FigureValue[]) => () =>
    unlessAway(backlog().then(valuesOf));
  return [
    counter('plinth_jobs_claimed_total', 'Jobs that processes have taken from a queue.', () =>
      queues().map(([queue, { claimed }]) => ({ labels: { queue }, value: claimed })),
    ),
    counter(
      'plinth_jobs_ended_total',
      'Attempts of jobs that have ended, by what became of the job; `recorded` if its handler recorded that itself.',
      () =>
        queues().flatMap(([queue, { ended }]) =>
          Object.entries(ended).map(([outcome, value]) => ({ labels: { queue, outcome }, value })),
        ),
    ),
    counter(
      'plinth_jobs_leases_lost_total',
      'Leases of processes that others ended while they lived.',
      () => [{ labels: {}, value: engine.tally().leasesLost }],
    ),
    max(
      'plinth_jobs',
      "Live jobs in the platform's own queues; large numbers are cut.",
      waiting((all) => all.map(({ queue, state, count }) => ({ labels: { queue, state }, value: count }))),
    ),
    max(
      'plinth_jobs_oldest_seconds',
      "How long the oldest job in one of the platform's own queues has been due.",
      waiting((all) => [...oldestOf(all)].map(([queue, value]) => ({ labels: { queue }, value }))),
    ),
  ];
}

function oldestOf(all: readonly JobBacklog[]): ReadonlyMap<string, number> {
  const oldest = new Map<string, number>();
  for (const { queue, oldestSeconds } of all)
    oldest.set(queue, Math.max(oldestSeconds, oldest.get(queue) ?? 0));
  return oldest;
}

/** All figures of one scrape come from one reading of the store. */
function oncePerScrape<T>(read: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= inTime(read()).finally(() => (asked = undefined)));
}

const unlessAway = (values: Promise<FigureValue[]>) => values.catch((): FigureValue[] => []);

function storeFigures(db: FigureSources['db']): Figure[] {
  const store = oncePerScrape(() => db.store());
  return [
    max('plinth_database_bytes', 'Size of the database.', () =>
      unlessAway(store().then(({ bytes }) => [{ labels: {}, value: bytes }])),
    ),
    max(
      'plinth_database_clock_ahead_seconds',
      'How far the clock of the database, which decides what has expired, is ahead of the one of the server.',
      () => unlessAway(store().then(({ clockAhead }) => [{ labels: {}, value: clockAhead }])),
    ),
    max('plinth_outbox_events', 'Events in the outbox of a service, as the database estimates them.', () =>
      unlessAway(
        store().then(({ outbox }) =>
          outbox.map(({ service, rows }) => ({ labels: { service }, value: rows })),
        ),
      ),
    ),
  ];
}

function relayFigures(db: FigureSources['db']): Figure[] {
  const backlog = oncePerScrape(() => relayBacklog(db.background));
  const of = (member: 'waiting' | 'oldestSeconds' | 'held' | 'heldTenants') => () =>
    unlessAway(
      backlog().then((all) =>
        all.map(({ service, consumer, ...figures }: Backlog) => ({
          labels: { service, consumer },
          value: figures[member],
        })),
      ),
    );
  return [
    max('plinth_relay_waiting', 'Events of a service that a consumer was not handed yet.', of('waiting')),
    max(
      'plinth_relay_oldest_seconds',
      'Age of the oldest event of a service that a consumer has not taken.',
      of('oldestSeconds'),
    ),
    max(
      'plinth_relay_held_subjects',
      'Subjects whose events wait because a consumer failed to take one of them.',
      of('held'),
    ),
    max(
      'plinth_relay_held_tenants',
      'Tenants whose events wait because a consumer failed to take too many of their subjects.',
      of('heldTenants'),
    ),
  ];
}

const sum = (name: string, help: string, read: Figure['read']): Figure => ({
  ...{ name, help, read },
  type: 'gauge',
  aggregator: 'sum',
});
const max = (name: string, help: string, read: Figure['read']): Figure => ({
  ...sum(name, help, read),
  aggregator: 'max',
});
const counter = (name: string, help: string, read: Figure['read']): Figure => ({
  ...sum(name, help, read),
  type: 'counter',
});

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), patience);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
