import type { Changes, Info, Presence } from '../../services/sync/index.ts';
import { toText } from '../hlc.ts';
import { addition, additions, deletion, keyed, registers, removals } from './edits.ts';
import { Link, type Surroundings } from './link.ts';
import { tell } from './listeners.ts';
import { Topics } from './presence.ts';
import { Records, type Changed } from './records.ts';
import type { ReplicaMeta, ReplicaStore } from './store.ts';
import { tabsOf, type Message, type Tabs } from './tabs.ts';
import type { Replica, ReplicaOptions, ReplicaStatus, ReplicaTable } from './types.ts';

/** The resources of the service that a replica calls. */
export interface Resources {
  readonly changes: Changes;
  readonly info: Info;
  readonly presence: Presence;
}

const tableName = /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/;
const nodeIdForm = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,63}$/;
const mostTables = 32;

const ordinary: Surroundings = { now: () => Date.now(), random: () => Math.random(), firstRetryMs: 1_000 };

/** Opens the storage of a replica, and gives a new one its id. */
export async function openReplica(
  resources: Resources,
  options: ReplicaOptions,
  surroundings = ordinary,
): Promise<Replica> {
  check(options);
  const store = await options.storage.open();
  const { nodeId } = await store.write(async (transaction): Promise<ReplicaMeta> => {
    const known = await transaction.meta();
    if (known) return known;
    const nodeId = options.nodeId ?? newNodeId();
    const clock = toText({ timestamp: 0, counter: 0, node_id: nodeId });
    const meta = { nodeId, clock, seen: clock, offset: 0, tables: options.tables, watermark: '' };
    await transaction.putMeta(meta);
    return meta;
  });
  if (options.nodeId !== undefined && options.nodeId !== nodeId) {
    await store.close();
    throw new Error(`nodeId: the storage belongs to the replica ${nodeId}`);
  }
  return new OpenReplica(resources, options, surroundings, store, nodeId);
}

function check({ tables, nodeId }: ReplicaOptions): void {
  if (tables.length === 0 || tables.length > mostTables) throw new TypeError(`tables: 1 to ${mostTables}`);
  const wrong = tables.find((table) => !tableName.test(table));
  if (wrong !== undefined) throw new TypeError(`tables: ${JSON.stringify(wrong)} is not the name of a table`);
  if (nodeId !== undefined && !nodeIdForm.test(nodeId)) throw new TypeError('nodeId: not an id of a node');
}

const newNodeId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

class OpenReplica implements Replica {
  readonly nodeId: string;
  readonly #tables: readonly string[];
  readonly #store: ReplicaStore;
  readonly #records: Records;
  readonly #link: Link;
  readonly #topics: Topics;
  readonly #tabs: Tabs;
  readonly #end = new AbortController();
  readonly #listeners = new Map<string, Set<(pks: ReadonlySet<string>) => void>>();
  readonly #statusListeners = new Set<(status: ReplicaStatus) => void>();
  /** The topics that other tabs watch. */
  readonly #otherTopics = new Set<string>();
  #status: ReplicaStatus = { state: 'offline', pending: 0 };
  #isLeading = false;
  #running: Promise<void> | undefined;

  constructor(
    { changes, info, presence }: Resources,
    { tables, storage, onDropped }: ReplicaOptions,
    surroundings: Surroundings,
    store: ReplicaStore,
    nodeId: string,
  ) {
    this.nodeId = nodeId;
    this.#tables = tables;
    this.#store = store;
    this.#records = new Records({
      store,
      now: surroundings.now,
      changed: (records) => this.#changed(records),
      pushed: () => this.#pushed(),
    });
    this.#topics = new Topics({ presence, nodeId, watch: () => this.#watchTopics() });
    this.#tabs = tabsOf(storage.shared, (message) => this.#hear(message));
    this.#link = new Link({
      ...surroundings,
      ...{ changes, info, records: this.#records, tables },
      topics: () => [...new Set([...this.#topics.names(), ...this.#otherTopics])],
      report: (state, error) => this.#report(state, error),
      connected: (server) => this.#topics.connected(server),
      hear: (event) => {
        this.#topics.hear(event);
        this.#tabs.tell({ type: 'presence', event });
      },
      dropped: (edit) => tell(onDropped ? [onDropped] : [], edit),
    });
    this.#tabs.tell({ type: 'hello' });
    void this.#count();
  }

  get status(): ReplicaStatus {
    return this.#status;
  }

  table(name: string): ReplicaTable {
    if (!this.#tables.includes(name)) throw new TypeError(`${name}: not a table of this replica`);
    const records = this.#records;
    return {
      get: (pk) => records.get(name, keyed(pk)),
      list: async (filter) => {
        const all = await records.list(name);
        return filter ? all.filter(filter) : all;
      },
      set: async (pk, values) => records.edit(name, keyed(pk), (edited) => registers(edited, values)),
      increment: async (pk, field, by = 1) =>
        records.edit(name, keyed(pk), (edited) => addition(edited, field, by)),
      add: async (pk, field, ...elements) =>
        records.edit(name, keyed(pk), (edited) => additions(edited, field, elements)),
      remove: async (pk, field, ...elements) =>
        records.edit(name, keyed(pk), (edited) => removals(edited, field, elements)),
      delete: async (pk) => records.edit(name, keyed(pk), deletion),
      subscribe: (listener) => added(this.#listenersOf(name), listener),
    };
  }

  presence(topic: string) {
    return this.#topics.of(topic);
  }

  onStatus(listener: (status: ReplicaStatus) => void): () => void {
    return added(this.#statusListeners, listener);
  }

  start(): void {
    if (this.#end.signal.aborted) throw new Error('the replica has been stopped');
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    const online = () => this.#link.retry();
    const offline = () => this.#link.reopen();
    const isPage = typeof addEventListener === 'function';
    if (isPage) addEventListener('online', online);
    if (isPage) addEventListener('offline', offline);
    const work = async () => {
      this.#isLeading = true;
      this.#tabs.tell({ type: 'hello' });
      await this.#link.run(signal);
    };
    await this.#tabs.lead(work, signal);
    if (isPage) removeEventListener('online', online);
    if (isPage) removeEventListener('offline', offline);
  }

  async flush(): Promise<void> {
    this.start();
    this.#link.retry();
    this.#tabs.tell({ type: 'changed', records: new Map(), isEdit: true });
    for (;;) {
      // Asked first, so that no change is missed between the count and the wait.
      const changed = this.#nextStatus();
      await this.#count();
      if (this.#status.pending === 0) return;
      if (this.#end.signal.aborted) throw new Error('the replica was stopped');
      await changed;
    }
  }

  #nextStatus(): Promise<void> {
    return new Promise((resolve) => {
      const end = this.onStatus(() => {
        end();
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    if (this.#end.signal.aborted) return;
    await this.#topics.stop();
    this.#end.abort();
    await this.#running;
    this.#tabs.close();
    this.#tellListeners();
    await this.#store.close();
  }

  #changed(records: Changed): void {
    this.#tabs.tell({ type: 'changed', records, isEdit: !this.#isLeading });
    this.#show(records);
    this.#link.wake();
    void this.#count();
  }

  #pushed(): void {
    this.#tabs.tell({ type: 'changed', records: new Map(), isEdit: false });
    void this.#count();
  }

  #show(records: Changed): void {
    for (const [table, pks] of records) tell(this.#listenersOf(table), pks);
  }

  #report(state: ReplicaStatus['state'], error?: unknown): void {
    this.#status = { state, pending: this.#status.pending, ...(error !== undefined && { error }) };
    const message = error instanceof Error ? error.message : undefined;
    this.#tabs.tell({ type: 'status', state, ...(message !== undefined && { error: message }) });
    this.#tellListeners();
    void this.#count();
  }

  async #count(): Promise<void> {
    const pending = await this.#records.pending().catch(() => this.#status.pending);
    if (pending === this.#status.pending) return;
    this.#status = { ...this.#status, pending };
    this.#tellListeners();
  }

  #tellListeners(): void {
    tell(this.#statusListeners, this.#status);
  }

  #hear(message: Message): void {
    switch (message.type) {
      case 'changed':
        this.#show(message.records);
        if (message.isEdit && this.#isLeading) this.#link.wake();
        return void this.#count();
      case 'status':
        this.#status = { state: message.state, pending: this.#status.pending };
        if (message.error !== undefined) this.#status = { ...this.#status, error: new Error(message.error) };
        this.#tellListeners();
        return void this.#count();
      case 'presence':
        return this.#topics.hear(message.event);
      case 'topics': {
        const before = this.#otherTopics.size;
        for (const topic of message.topics) this.#otherTopics.add(topic);
        if (this.#isLeading && this.#otherTopics.size > before) this.#link.reopen();
        return;
      }
      case 'hello':
        if (this.#isLeading) this.#report(this.#status.state, this.#status.error);
        else this.#tabs.tell({ type: 'topics', topics: this.#topics.names() });
    }
  }

  #watchTopics(): void {
    if (this.#isLeading) this.#link.reopen();
    else this.#tabs.tell({ type: 'topics', topics: this.#topics.names() });
  }

  #listenersOf(table: string): Set<(pks: ReadonlySet<string>) => void> {
    const listeners = this.#listeners.get(table) ?? new Set();
    this.#listeners.set(table, listeners);
    return listeners;
  }
}

function added<Item>(set: Set<Item>, item: Item): () => void {
  set.add(item);
  return () => void set.delete(item);
}
