import { randomUUID } from 'node:crypto';
import { Conflict } from '../lib/errors.ts';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import { periodic } from './periodic.ts';

/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly tenant: string;
  /** Within what the key is unique beyond the tenant: service, operation, app and actor. */
  readonly scope: string;
  readonly key: string;
  /** Hash of everything that makes the request the same: path, query and body. */
  readonly fingerprint: Uint8Array;
}

/** An answer as it went over the wire. `body` is its exact text. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | null;
}

/** The right to carry the request out. Exactly one of the three ends it; without that it can be claimed anew after a minute. */
export interface Claim {
  /** Keeps the answer for the repeats. */
  keep(answer: KeptAnswer): Promise<void>;
  /** For an answer that carried a secret: repeats are told the id of what was made and nothing else. */
  keepOnly(made: string): Promise<void>;
  /** Nothing was done (an error that may pass): the next request with the key starts from the beginning. */
  release(): Promise<void>;
}

export interface Idempotency {
  /**
   * The claim, or the answer that an earlier request got. Throws `Conflict` when the key was used with another body, when the first
   * request is still running (`retryAfter` 1), and when the first answer carried a secret.
   */
  claim(request: KeyedRequest): Promise<{ claim: Claim } | { answer: KeptAnswer }>;
  /** Ends the sweep that removes what is older than 24 hours. */
  stop(): Promise<void>;
}

/** A claim without an end is one of a process that died, once it is older than any request may last. */
const takeOver = '60 seconds';
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
  /** A hash under a secret key: a request may hold a password, which a plain hash would let guess. */
  readonly mac: (tenant: string, text: string) => Uint8Array;
}

export function idempotency({ db, log, mac }: IdempotencyOptions): Idempotency {
  const { sql } = db;
  const sweep = periodic({
    db,
    name: 'plinth.idempotency',
    everyMs: 600_000,
    log,
    run: (signal) => removeOld(db, signal),
  });

  /** One statement, so that of any number of equal requests one gets the claim. */
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

  const claimOf = ({ tenant, scope, key }: KeyedRequest, claim: string): Claim => {
    const mine = sql`tenant_id = ${tenant} and scope = ${scope} and key = ${key} and claim = ${claim} and completed_at is null`;
    return {
      async keep(answer) {
        await sql`update plinth.idempotency_keys set completed_at = now(), answer = ${answer} where ${mine}`;
      },
      async keepOnly(made) {
        await sql`update plinth.idempotency_keys set completed_at = now(), made = ${made} where ${mine}`;
      },
      async release() {
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
        // It was released between the two statements.
      }
      throw inFlight();
    },
    stop: () => sweep.stop(),
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

async function removeOld({ sql }: Database, signal: AbortSignal): Promise<void> {
  let removed = Infinity;
  while (removed > 0 && !signal.aborted) {
    const { count } = await sql`
      delete from plinth.idempotency_keys
      where (tenant_id, scope, key) in (
        select tenant_id, scope, key from plinth.idempotency_keys where claimed_at < now() - ${retention}::interval limit 1000
      )
    `;
    removed = count;
  }
}
