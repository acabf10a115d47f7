import { setTimeout as delay } from 'node:timers/promises';
import type { Lane } from './lane.ts';

/** Tracks whether the server can be reached, from all connections of one backend. */
export interface Reach {
  /** The error for every statement while the server does not answer on any connection; undefined otherwise. */
  problem(): Error | undefined;
  watch(lane: Lane): void;
  unwatch(lane: Lane): void;
  /** Calls `fn` when the server is found to be silent. */
  onSilence(fn: (problem: Error) => void): void;
  close(): Promise<void>;
}

export interface ReachOptions {
  /** Milliseconds without a byte after something was sent; it must be longer than any statement may take. */
  readonly silenceMs: number;
  /** Opens a connection to test whether the server answers. */
  readonly probe: () => Lane;
}

interface Watched {
  sent: number;
  heard: number;
  /** Milliseconds for which the connection has been waiting for an answer without receiving a byte. */
  quietMs: number;
}

const everyMs = 200;
const pauseMs = 100;
const longestProbeMs = 1_000;

/**
 * Finds connections that are dead but were never closed: the server vanished, or a device in between no longer forwards packets. The
 * operating system notices that only after minutes, and not at all while statements are still being sent. A connection that waits for
 * an answer and receives nothing is cut. When no other connection has received anything either and a new one gets no answer, the
 * server counts as silent: all statements then fail at once, until a probe connection gets an answer again.
 */
export function createReach({ silenceMs, probe }: ReachOptions): Reach {
  const probeMs = Math.min(longestProbeMs, silenceMs / 2);
  const suspectMs = silenceMs - probeMs;
  const lanes = new Map<Lane, Watched>();
  const listeners: ((problem: Error) => void)[] = [];
  let problem: Error | undefined;
  let probing: Promise<void> | undefined;
  let closed = false;
  let looked = performance.now();
  /** Milliseconds since any connection received data, not counting pauses of the process. */
  let unheardMs = 0;
  const timer = setInterval(look, everyMs).unref();

  function look(): void {
    const now = performance.now();
    // After a pause of the process, data that arrived during the pause is not read yet, so the pause does not count.
    const passed = Math.min(now - looked, 2 * everyMs);
    looked = now;
    unheardMs += passed;
    const dead: Lane[] = [];
    let suspicious = false;
    for (const [lane, watched] of lanes) {
      quietMs(lane, watched, passed);
      if (watched.quietMs >= silenceMs) dead.push(lane);
      suspicious ||= watched.quietMs >= suspectMs;
    }
    for (const lane of dead) lane.cut(silent());
    if (suspicious && unheardMs >= suspectMs) probing ??= suspect().finally(() => (probing = undefined));
  }

  function quietMs(lane: Lane, watched: Watched, passed: number): void {
    const { sent, heard } = lane.traffic();
    const answered = heard !== watched.heard;
    if (answered) unheardMs = 0;
    const asked = lane.inFlight() > 0 || sent !== watched.sent;
    if (answered || !asked) {
      watched.quietMs = 0;
      watched.sent = sent;
      watched.heard = heard;
    } else watched.quietMs += passed;
  }

  /** Probes the server first, because the other connections may only have been idle. */
  async function suspect(): Promise<void> {
    if (await answers(probe(), probeMs)) return void (unheardMs = 0);
    const error = (problem = silent());
    for (const lane of lanes.keys()) lane.cut(error);
    for (const listener of listeners) listener(error);
    do await delay(pauseMs);
    while (!closed && !(await answers(probe(), probeMs)));
    problem = undefined;
    unheardMs = 0;
  }

  return {
    problem: () => problem,
    watch: (lane) => void lanes.set(lane, { ...lane.traffic(), quietMs: 0 }),
    unwatch: (lane) => void lanes.delete(lane),
    onSilence: (fn) => void listeners.push(fn),
    async close() {
      closed = true;
      clearInterval(timer);
      await probing;
    },
  };
}

async function answers(lane: Lane, withinMs: number): Promise<boolean> {
  const late = setTimeout(() => lane.cut(silent()), withinMs);
  return lane.sql`select 1`
    .then(
      () => true,
      () => false,
    )
    .finally(() => {
      clearTimeout(late);
      void lane.end(0);
    });
}

const silent = () => Object.assign(new Error('no answer from the database'), { code: 'ETIMEDOUT' });
