import type { Changes, Info, PresenceEvent, ServerInfo } from '../../services/sync/index.ts';
import { byteLength } from '../canonical.ts';
import { changeOf } from '../changes.ts';
import { fromText, unset } from '../hlc.ts';
import { addTo, type Records, type Snapshot } from './records.ts';
import type { StoredCell } from './store.ts';
import type { DroppedEdit, ReplicaStatus } from './types.ts';

/** How time passes; tests make it pass faster. */
export interface Surroundings {
  readonly now: () => number;
  readonly random: () => number;
  /** Milliseconds before the first new attempt. Each further one waits half as long again, up to 30 times this. */
  readonly firstRetryMs: number;
}

interface Deps extends Surroundings {
  readonly changes: Changes;
  readonly info: Info;
  readonly records: Records;
  readonly tables: readonly string[];
  readonly topics: () => readonly string[];
  readonly report: (state: ReplicaStatus['state'], error?: unknown) => void;
  readonly connected: (info: ServerInfo) => void;
  readonly hear: (event: PresenceEvent) => void;
  readonly dropped: (edit: DroppedEdit) => void;
}

const mostChanges = 1_000;
const mostTopics = 32;
/** Room for the rest of a push. */
const spareBytes = 1_024;

type StreamEvent = ReturnType<Changes['stream']> extends AsyncIterable<infer Event> ? Event : never;

/** The server no longer knows what this replica missed. */
class ResyncRequired extends Error {}

/** The connection of a replica: pushes, pulls and streams, again and again, until its signal aborts. */
export class Link {
  readonly #deps: Deps;
  #info: ServerInfo | undefined;
  #hasWork = false;
  #wakeUp = () => {};
  #endPause = () => {};
  #endOfStream: AbortController | undefined;
  #isReopening = false;
  #refusedTables = new Set<string>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** There is something to push. */
  wake(): void {
    this.#hasWork = true;
    this.#wakeUp();
  }

  /** There is reason to believe that a new attempt succeeds. */
  retry(): void {
    this.wake();
    this.#endPause();
  }

  /** Ends the stream, and begins again at once with the current topics. */
  reopen(): void {
    this.#isReopening = true;
    this.#endOfStream?.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { report } = this.#deps;
    let failures = 0;
    let resyncs = 0;
    while (!signal.aborted) {
      try {
        report('syncing');
        await this.#catchUp(signal);
        failures = resyncs = 0;
        await this.#live(signal);
        // Servers end streams now and then; not all clients should return at the same time.
        if (!this.#isReopening) await this.#pause(1, 0, signal);
      } catch (error) {
        if (signal.aborted) break;
        if (isGone(error) && resyncs === 0 && (await this.#begunAgain(signal))) {
          resyncs += 1;
          continue;
        }
        failures += 1;
        resyncs = 0;
        report('offline', error);
        await this.#pause(failures, retryAfterOf(error), signal);
      }
    }
    report('offline');
  }

  /** Pushes and pulls until there is nothing left. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    await this.#synchronizeClock(signal);
    await this.#addTables(signal);
    // Who may not push may read nevertheless.
    const refusal = await this.#push(signal).catch((error: unknown) => {
      if (!isKept(error)) throw error;
      return error;
    });
    await this.#pull(signal);
    if (refusal !== undefined) throw refusal as Error;
    if (this.#refusedTables.size > 0) {
      await this.#resync([...this.#refusedTables], false, signal);
      this.#refusedTables.clear();
    }
  }

  async #synchronizeClock(signal: AbortSignal): Promise<void> {
    const { info, records, now } = this.#deps;
    const before = now();
    this.#info = await info.get({}, { signal, retries: 0 });
    const half = (now() - before) / 2;
    const offset = Date.parse(this.#info.server_time) - before - half;
    const known = (await records.meta()).offset;
    // The network may have been slow in one direction only.
    if (Math.abs(offset - known) > half + 500) await records.setOffset(Math.round(offset));
  }

  /** Pulls tables that were not kept so far. The watermark of the others holds for them from then on. */
  async #addTables(signal: AbortSignal): Promise<void> {
    const { records, tables } = this.#deps;
    const meta = await records.meta();
    const added = tables.filter((table) => !meta.tables.includes(table));
    if (added.length > 0 && meta.watermark !== '') await this.#resync(added, false, signal);
    if (added.length > 0 || meta.tables.length > tables.length) await records.setTables(tables);
  }

  async #push(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      this.#hasWork = false;
      const cells = await this.#deps.records.dirty(
        Math.min(mostChanges, this.#info?.max_changes ?? mostChanges),
      );
      if (cells.length === 0) return;
      try {
        await this.#pushCells(this.#fitting(cells), signal);
      } catch (error) {
        if (!isDrift(error) || attempt > 0) throw error;
        await this.#synchronizeClock(signal);
        await this.#deps.records.restamp();
      }
    }
  }

  /** The first cells that fit into one push. */
  #fitting(cells: StoredCell[]): StoredCell[] {
    const most = (this.#info?.max_push_bytes ?? Infinity) - spareBytes;
    let bytes = 0;
    const end = cells.findIndex((cell) => {
      bytes += byteLength(JSON.stringify(changeOf(cell))) + 1;
      return bytes > most;
    });
    return end < 0 ? cells : cells.slice(0, Math.max(1, end));
  }

  /** Pushes cells. What the server refuses is halved until the refused edits are found. */
  async #pushCells(cells: StoredCell[], signal: AbortSignal): Promise<void> {
    const { changes, records, dropped } = this.#deps;
    const { nodeId } = await records.meta();
    try {
      const body = { Changes: cells.map(changeOf), NodeID: nodeId };
      const { LatestHLC } = await changes.push({ body }, { signal, retries: 0 });
      await records.acknowledge(cells, LatestHLC);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [cell] = cells;
      if (cells.length === 1 && cell) {
        this.#refusedTables.add(cell.table);
        await records.drop(cell);
        dropped({ change: changeOf(cell), reason: 'refused', message: error.message });
        return;
      }
      const middle = Math.ceil(cells.length / 2);
      await this.#pushCells(cells.slice(0, middle), signal);
      await this.#pushCells(cells.slice(middle), signal);
    }
  }

  async #pull(signal: AbortSignal): Promise<void> {
    const { changes, records, tables } = this.#deps;
    for (let hasMore = true; hasMore;) {
      const { nodeId, watermark } = await records.meta();
      const Since = watermark === '' ? unset : fromText(watermark);
      const body = { Tables: [...tables], Since, NodeID: nodeId };
      const page = await changes.pull({ body }, { signal, retries: 0 });
      await records.arrive(page.Changes, page.LatestHLC);
      hasMore = page.HasMore;
    }
  }

  /** Reads the stream and pushes edits as they are made, until either ends. */
  async #live(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const end = new AbortController();
    const stop = () => end.abort();
    signal.addEventListener('abort', stop);
    this.#endOfStream = end;
    this.#isReopening = false;
    let pushing: Promise<void> | undefined;
    let failure: unknown;
    try {
      const stream = await this.#openStream(end.signal);
      pushing = this.#pushEdits(end.signal).catch((error: unknown) => {
        failure = error;
        end.abort();
      });
      for await (const event of stream) await this.#take(event);
    } catch (error) {
      if (!end.signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      end.abort();
      this.#wakeUp();
      await pushing;
    }
    if (failure !== undefined) throw failure as Error;
  }

  async #openStream(signal: AbortSignal): Promise<ReturnType<Changes['stream']>> {
    const { changes, records, tables, topics, report, connected } = this.#deps;
    const { nodeId, watermark } = await records.meta();
    const asked = topics();
    const stream = changes.stream(
      {
        ...{ tables: tables.join(','), node_id: nodeId, exclude_own: true },
        ...(watermark !== '' && { since: watermark }),
        ...(asked.length > 0 && asked.length <= mostTopics && { topics: asked.join(',') }),
      },
      { signal, retries: 0 },
    );
    await stream.response();
    report('live');
    connected(this.#info!);
    return stream;
  }

  async #take({ event, data }: StreamEvent): Promise<void> {
    if (event === 'resync') throw new ResyncRequired(data.error);
    if (event === 'presence') this.#deps.hear(data);
    else await this.#deps.records.arrive(data.Changes, data.LatestHLC);
  }

  async #pushEdits(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#hasWork) await new Promise<void>((resolve) => (this.#wakeUp = resolve));
      if (signal.aborted) return;
      await this.#push(signal);
      // A refused edit has hidden what the server has.
      if (this.#refusedTables.size > 0) this.reopen();
    }
  }

  async #begunAgain(signal: AbortSignal): Promise<boolean> {
    const { report, tables } = this.#deps;
    report('resyncing');
    try {
      await this.#resync(tables, true, signal);
      return true;
    } catch (error) {
      report('offline', error);
      return false;
    }
  }

  /** Pulls tables from the beginning, and compares everything with what is there. */
  async #resync(tables: readonly string[], isWhole: boolean, signal: AbortSignal): Promise<void> {
    const { changes, records, dropped } = this.#deps;
    const found: Snapshot & { records: Parameters<typeof addTo>[0] } = { tables, records: new Map() };
    let since = unset;
    for (let hasMore = true; hasMore;) {
      const body = { Tables: [...tables], Since: since };
      const page = await changes.pull({ body }, { signal, retries: 0 });
      addTo(found.records, page.Changes);
      since = page.LatestHLC;
      hasMore = page.HasMore;
    }
    const edits = await records.resync(found, since, isWhole);
    for (const cell of edits) dropped({ change: changeOf(cell), reason: 'deleted' });
  }

  async #pause(failures: number, retryAfter: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { firstRetryMs, random } = this.#deps;
    const longest = Math.min(30, 1.5 ** (failures - 1)) * firstRetryMs;
    const delay = Math.max(longest * (0.5 + random() / 2), retryAfter * 1000);
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, delay);
      signal.addEventListener('abort', end);
      this.#endPause = end;
    });
  }
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** The members of the client's errors are compared, not their class: this code imports nothing of the client. */
const statusOf = (error: unknown): number =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 0;

const retryAfterOf = (error: unknown): number =>
  error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number'
    ? error.retryAfter
    : 0;

const isGone = (error: unknown): boolean => error instanceof ResyncRequired || statusOf(error) === 410;

const isDrift = (error: unknown): error is Refusal =>
  statusOf(error) === 400 && (error as Error).message.startsWith('clock drift');

/** Whether a push was refused, for now, because of what the replica may do or because there is no room for another table. */
const isKept = (error: unknown): boolean => statusOf(error) === 403 || statusOf(error) === 409;

/** Whether the server would never accept the push. Missing rights can be given, so these edits are kept. */
function isRefusal(error: unknown): error is Refusal {
  const status = statusOf(error);
  if (status === 403) return !/^(forbidden|node id)/.test((error as Error).message);
  return (status === 400 && !isDrift(error)) || status === 413;
}
