import { randomUUID } from 'node:crypto';
import { Conflict } from '../lib/errors.ts';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sweep } from './sweeps.ts';

/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly tenant: string;
  /** The scope within the tenant in which the key is unique: service, operation, app, credential and actor. */
  readonly scope: string;
  readonly key: string;
  /** Hash of everything that identifies a repeated request: its parameters and its body. */
  readonly fingerprint: Uint8Array;
}

/** A response as it was sent. `body` is its exact text. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | null;
}

/**
 * The right to carry out the request, which lasts as long as this process does. One of the three methods ends the claim; a claim of a
 * process that died can be taken over after a minute.
 */
export interface Claim {
  /** Stores the response for repeated requests. */
  keep(answer: KeptAnswer): Promise<void>;
  /** For a response that carried a secret: repeated requests learn only the id of the created resource. */
  keepOnly(made: string): Promise<void>;
  /** For a request that did nothing because of an error that may pass: the next request with the key starts afresh. */
  release(): Promise<void>;
}

export interface Idempotency {
  /**
   * Returns the claim, or the response to an earlier request. Throws `Conflict` when the key was used with another body, when the
   * first request is still running (`retryAfter` 1), and when the first response carried a secret.
   */
  claim(request: KeyedRequest): Promise<{ claim: Claim } | { answer: KeptAnswer }>;
  /** Removes records older than 24 hours. */
  readonly sweep: Sweep;
  /** Stops the renewal of claims. */
  stop(): void;
}

/** An open claim that was not renewed for this long belongs to a process that died. */
const takeOver = '60 seconds';
/** Milliseconds between two renewals of the claims of requests that take long. */
const usualRenewal = 15_000;
const retention = '24 hours';

interface Row {
  same: boolean;
  completed: boolean;
  answer: KeptAnswer | null;
  made: string | null;
}

export interface IdempotencyOptions {
  readonly db: Database;
  readonly log: Log;
  /** A keyed hash: a request may contain a password, which could be guessed from a plain hash. */
  readonly mac: (tenant: string, text: string) => Uint8Array;
  /** Milliseconds between two renewals of open claims. */
  readonly renewalMs?: number;
}

type Claimed = Omit<KeyedRequest, 'fingerprint'>;

export function createIdempotency({
  db,
  log,
  mac,
  renewalMs = usualRenewal,
}: IdempotencyOptions): Idempotency {
  const { sql } = db;
  const open = openClaims(db, log, renewalMs);

  /** Claims in one statement, so that exactly one of any number of equal requests gets the claim. */
  async function insert({ tenant, scope, key, fingerprint }: KeyedRequest, claim: string): Promise<boolean> {
    const claimed = await sql`
      insert into plinth.idempotency_keys as kept (tenant_id, scope, key, fingerprint, claim)
      values (${tenant}, ${scope}, ${key}, ${fingerprint}, ${claim})
      on conflict (tenant_id, scope, key) do update
      set fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_at = now(), completed_at = null, answer = null, made = null
      where kept.claimed_at < now() - ${retention}::interval
        or (kept.completed_at is null and kept.claimed_at < now() - ${takeOver}::interval and kept.fingerprint = excluded.fingerprint)
      returning claim
    `;
    return claimed.length === 1;
  }

  async function find({ tenant, scope, key, fingerprint }: KeyedRequest): Promise<Row | undefined> {
    const [row] = await sql<Row[]>`
      select fingerprint = ${fingerprint} as same, completed_at is not null as completed, answer, made
      from plinth.idempotency_keys
      where tenant_id = ${tenant} and scope = ${scope} and key = ${key}
    `;
    return row;
  }

  const claimOf = ({ tenant, scope, key }: Claimed, claim: string): Claim => {
    open.add(claim, { tenant, scope, key });
    const mine = sql`tenant_id = ${tenant} and scope = ${scope} and key = ${key} and claim = ${claim} and completed_at is null`;
    return {
      async keep(answer) {
        open.delete(claim);
        await sql`update plinth.idempotency_keys set completed_at = now(), answer = ${answer} where ${mine}`;
      },
      async keepOnly(made) {
        open.delete(claim);
        await sql`update plinth.idempotency_keys set completed_at = now(), made = ${made} where ${mine}`;
      },
      async release() {
        open.delete(claim);
        await sql`delete from plinth.idempotency_keys where ${mine}`;
      },
    };
  };

  return {
    async claim({ fingerprint, ...others }) {
      const hidden = mac(others.tenant, Buffer.from(fingerprint).toString('hex'));
      const request = { ...others, fingerprint: hidden };
      const claim = randomUUID();
      for (let attempt = 0; attempt < 3; attempt++) {
        if (await insert(request, claim)) return { claim: claimOf(request, claim) };
        const row = await find(request);
        if (row !== undefined) return { answer: answerOf(row) };
        // The key was released between the two statements.
      }
      throw inFlight();
    },
    sweep: {
      name: 'plinth.idempotency',
      everyMs: 600_000,
      batch: 1_000,
      steps: [(batch) => removeOld(db, batch)],
    },
    stop: () => open.stop(),
  };
}

/** The claims of this process whose requests still run: renewed together, so that no other process takes a slow request for a dead one. */
function openClaims({ background: sql }: Database, log: Log, renewalMs: number) {
  const open = new Map<string, Claimed & { readonly since: number }>();
  async function renew(): Promise<void> {
    const late = performance.now() - renewalMs;
    const old = [...open].filter(([, { since }]) => since <= late);
    if (old.length === 0) return;
    const column = (name: keyof Claimed) => sql`${old.map(([, claimed]) => claimed[name])}::text[]`;
    await sql`
      update plinth.idempotency_keys as kept set claimed_at = now()
      from unnest(${column('tenant')}, ${column('scope')}, ${column('key')}, ${old.map(([claim]) => claim)}::text[])
        as mine (tenant_id, scope, key, claim)
      where (kept.tenant_id, kept.scope, kept.key) = (mine.tenant_id, mine.scope, mine.key)
        and kept.claim = mine.claim::uuid and kept.completed_at is null`;
  }
  const timer = setInterval(() => {
    renew().catch((error: unknown) => log.warn({ err: error }, 'idempotency keys in use were not renewed'));
  }, renewalMs).unref();
  return {
    add: (claim: string, claimed: Claimed) => void open.set(claim, { ...claimed, since: performance.now() }),
    delete: (claim: string) => void open.delete(claim),
    stop: () => clearInterval(timer),
  };
}

function answerOf({ same, completed, answer, made }: Row): KeptAnswer {
  if (!same) throw Conflict('idempotency key was used with another body');
  if (!completed) throw inFlight();
  if (answer === null)
    throw Conflict(
      `idempotency key was used: it made ${made}, and the answer carried a secret that is not kept`,
    );
  return answer;
}

const inFlight = () => Conflict('a request with this idempotency key is still running', { retryAfter: 1 });

async function removeOld({ sql }: Database, most: number): Promise<number> {
  const { count } = await sql`
    delete from plinth.idempotency_keys
    where (tenant_id, scope, key) in (
      select tenant_id, scope, key from plinth.idempotency_keys where claimed_at < now() - ${retention}::interval limit ${most}
    )
  `;
  return count;
}
