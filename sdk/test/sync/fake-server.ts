/** A server of sync in memory, behind the same wire: the merge module, arrival stamps, horizon, stream and presence. */
import type {
  Change,
  ChangeInput,
  PresenceEvent,
  PullRequest,
  PushRequest,
} from '../../src/services/sync/types.ts';
import { recordKey, type Cell } from '../../src/sync/cells.ts';
import { cellsOf, changeOf } from '../../src/sync/changes.ts';
import { fromText, pack, toText, unpack, type Hlc } from '../../src/sync/hlc.ts';
import { isCovered, merge, tombstoneOf, type RecordCells } from '../../src/sync/merge.ts';

type Arrived = Cell & { readonly arrival: bigint };
interface Stream {
  readonly tables: readonly string[];
  readonly nodeId: string | null;
  readonly send: (text: string) => void;
  readonly end: () => void;
  position: bigint;
}

const maxDrift = 5_000;

export class FakeServer {
  now = (): number => 1_795_168_000_000;
  epoch = '5f3c9a1e';
  /** Answers a request in place of the server: a refusal, or a fault of the network by throwing. */
  intercept: (path: string, body: unknown) => Response | undefined = () => undefined;
  readonly requests: { path: string; body: unknown }[] = [];
  readonly #records = new Map<string, RecordCells<Arrived>>();
  readonly #streams = new Set<Stream>();
  readonly #present = new Map<string, Map<string, unknown>>();
  #clock = 0n;
  #horizonArrival = 0n;
  #horizonHlc = '';

  /** The `fetch` of a client. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const response = await this.#answer(request);
    if (request.signal.aborted) throw request.signal.reason as Error;
    return response;
  };

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname.replace('/sync', '');
    const text = await request.text();
    const body = text === '' ? undefined : (JSON.parse(text) as unknown);
    this.requests.push({ path, body });
    const intercepted = this.intercept(path, body);
    if (intercepted) return intercepted;
    switch (`${request.method} ${path}`) {
      case 'GET /info':
        if (url.search !== '') return refusal(400, `${url.search}: unknown`);
        return json(200, this.#info());
      case 'POST /push':
        return this.#push(body as PushRequest);
      case 'POST /pull':
        return this.#pull(body as PullRequest);
      case 'GET /stream':
        return this.#stream(url.searchParams, request.signal);
      case 'POST /presence':
        return this.#announce(body as { NodeID: string; Topic: string; Data?: unknown });
      case 'GET /presence': {
        const topic = url.searchParams.get('topic') ?? '';
        return json(200, { Topic: topic, States: this.#states(topic) });
      }
      default:
        return refusal(404, 'not found');
    }
  }

  /** What every replica must end with. */
  cells(): Map<string, Cell[]> {
    return new Map([...this.#records].map(([key, cells]) => [key, [...cells.values()]]));
  }

  /** Forgets all deletions so far, as the server does after their time to live. */
  forget(): void {
    for (const [key, cells] of this.#records) {
      for (const [name, cell] of cells) {
        if (cell.kind !== 't' && cell.removed === '') continue;
        cells.delete(name);
        if (cell.arrival > this.#horizonArrival) this.#horizonArrival = cell.arrival;
        if (cell.hlc > this.#horizonHlc) this.#horizonHlc = cell.hlc;
      }
      if (cells.size === 0) this.#records.delete(key);
    }
  }

  /** Ends all streams, as a restart does. */
  cut(): void {
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  get streams(): number {
    return this.#streams.size;
  }

  #info() {
    return {
      ...{ server_time: new Date(this.now()).toISOString(), epoch: this.epoch, presence: true },
      ...{ max_clock_drift: '5s', tombstone_ttl: '168h', sync_interval: '30s', stream_retry: '5s' },
      ...{ presence_ttl: '30s', max_changes: 5000, max_push_bytes: 8_388_608 },
    };
  }

  #push({ Changes = [], NodeID }: PushRequest): Response {
    const cells: Cell[] = [];
    for (const [at, change] of Changes.entries()) {
      const problem = this.#problemOf(change, NodeID);
      if (problem !== undefined) return refusal(400, problem.replace('%', `Changes[${at}]`));
      cells.push(...cellsOf(change));
    }
    if (cells.some((cell) => this.#isStale(cell, cells))) return refusal(410, 'resync required');
    const latest = Changes.reduce((found, { hlc }) => (pack(hlc) > found ? pack(hlc) : found), 0n);
    const wall = BigInt(this.now()) << 16n;
    this.#clock = [this.#clock, wall, latest].reduce((a, b) => (a > b ? a : b));
    for (const cell of cells) this.#arrive(cell);
    for (const stream of this.#streams) this.#serve(stream);
    return json(200, { Merged: Changes.length, LatestHLC: unpack(this.#clock, '@clock'), Replaced: 0 });
  }

  #problemOf({ hlc, node_id, counter_delta, set_op }: ChangeInput, nodeId: string): string | undefined {
    const ahead = hlc.timestamp - this.now();
    if (ahead > maxDrift) return `clock drift: %.hlc is ${ahead} ms ahead, at most ${maxDrift}`;
    if (node_id !== nodeId || hlc.node_id !== nodeId) return '%.node_id: must be that of the push';
    const text = toText(hlc);
    if (counter_delta?.since && counter_delta.since >= text) return '%.counter_delta.since: must be earlier';
    if (set_op?.tags?.some((tag) => tag >= text)) return '%.set_op.tags: must be earlier';
    return undefined;
  }

  #isStale(cell: Cell, pushed: readonly Cell[]): boolean {
    if (cell.kind === 't' || cell.removed !== '' || cell.hlc > this.#horizonHlc) return false;
    const record = this.#records.get(recordKey(cell.table, cell.pk)) ?? new Map<string, Arrived>();
    const deletions = pushed.filter(
      ({ kind, table, pk }) => kind === 't' && table === cell.table && pk === cell.pk,
    );
    if (isCovered(cell, tombstoneOf(record)) || deletions.some(({ hlc }) => isCovered(cell, hlc)))
      return false;
    return ![...record.values()].some(
      ({ kind, field, sub }) => kind === cell.kind && field === cell.field && sub === cell.sub,
    );
  }

  #arrive(cell: Cell): void {
    const key = recordKey(cell.table, cell.pk);
    const record = this.#records.get(key) ?? new Map<string, Arrived>();
    this.#records.set(key, record);
    this.#clock += 1n;
    merge(record, { ...cell, arrival: this.#clock });
  }

  #pull({ Tables, Since, Limit = 1_000 }: PullRequest): Response {
    const since = this.#positionOf(Since ?? { timestamp: 0, counter: 0, node_id: '' });
    if (since === undefined) return refusal(410, 'resync required');
    return json(200, this.#page(since.position, Tables ?? [], Limit, since.start, null));
  }

  /** `@epoch:<start>` marks the pages of a pull that began when the clock was at `start`. */
  #positionOf({ timestamp, counter, node_id }: Hlc): { position: bigint; start?: bigint } | undefined {
    const position = pack({ timestamp, counter });
    if (position === 0n) return { position, start: this.#clock };
    const [epoch, start] = node_id.slice(1).split(':');
    if (epoch !== this.epoch || position > this.#clock) return undefined;
    if (start !== undefined) {
      const began = BigInt(`0x${start}`);
      return began < this.#horizonArrival ? undefined : { position, start: began };
    }
    return position < this.#horizonArrival ? undefined : { position };
  }

  #page(
    since: bigint,
    tables: readonly string[],
    limit: number,
    start: bigint | undefined,
    without: string | null,
  ) {
    const all = [...this.#records.values()]
      .flatMap((cells) => [...cells.values()])
      .filter(({ table, arrival }) => arrival > since && (tables.length === 0 || tables.includes(table)))
      .sort((a, b) => (a.arrival < b.arrival ? -1 : 1));
    const cells = all.slice(0, limit);
    const HasMore = all.length > limit;
    const position = HasMore ? cells.at(-1)!.arrival : this.#clock;
    const mark = start !== undefined && HasMore ? `:${start.toString(16).padStart(16, '0')}` : '';
    const Changes: Change[] = cells.map(changeOf).filter(({ node_id }) => node_id !== without);
    return { Changes, LatestHLC: unpack(position, position === 0n ? '' : `@${this.epoch}${mark}`), HasMore };
  }

  #stream(query: URLSearchParams, signal: AbortSignal): Response {
    const since = query.get('since');
    const known = since === null ? { position: 0n } : this.#positionOf(fromText(since));
    if (known === undefined) return refusal(410, 'resync required');
    const encoder = new TextEncoder();
    let stream: Stream;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const tables = (query.get('tables') ?? '').split(',').filter((table) => table !== '');
        stream = {
          ...{ tables, nodeId: query.get('exclude_own') === 'true' ? query.get('node_id') : null },
          position: known.position,
          send: (text) => controller.enqueue(encoder.encode(text)),
          end: () => controller.close(),
        };
        stream.send('retry: 5000\n\n');
        this.#streams.add(stream);
        this.#serve(stream);
        signal.addEventListener('abort', () => {
          if (this.#streams.delete(stream)) controller.error(signal.reason);
        });
      },
      cancel: () => void this.#streams.delete(stream),
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  #serve(stream: Stream): void {
    for (let hasMore = true; hasMore;) {
      if (stream.position >= this.#clock) return;
      const page = this.#page(stream.position, stream.tables, 1_000, undefined, stream.nodeId);
      stream.position = pack(page.LatestHLC);
      stream.send(`event: changes\nid: ${toText(page.LatestHLC)}\ndata: ${JSON.stringify(page)}\n\n`);
      hasMore = page.HasMore;
    }
  }

  #states(topic: string) {
    const [UpdatedAt, ExpiresAt] = [
      new Date(this.now()).toISOString(),
      new Date(this.now() + 30_000).toISOString(),
    ];
    return [...(this.#present.get(topic) ?? [])].map(([NodeID, Data]) => ({
      ...{ NodeID, Topic: topic, Data, UpdatedAt, ExpiresAt },
    }));
  }

  #announce({ NodeID, Topic, Data = null }: { NodeID: string; Topic: string; Data?: unknown }): Response {
    const present = this.#present.get(Topic) ?? new Map<string, unknown>();
    this.#present.set(Topic, present);
    const Type = Data === null ? 'leave' : present.has(NodeID) ? 'update' : 'join';
    if (Data === null) present.delete(NodeID);
    else present.set(NodeID, Data);
    const event: PresenceEvent = { Type, NodeID, Topic, Data };
    for (const { send } of this.#streams) send(`event: presence\ndata: ${JSON.stringify(event)}\n\n`);
    return json(200, event);
  }
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

export const refusal = (status: number, error: string): Response => json(status, { error });
