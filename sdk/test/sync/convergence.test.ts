/** Five replicas edit the same records; the network loses, repeats and reorders; they crash between storing and acknowledging. */
import { expect, it } from 'vitest';
import { createClient } from '../../src/runtime/client.ts';
import { changesOf, type Changes } from '../../src/services/sync/changes.ts';
import type { PullResponse } from '../../src/services/sync/types.ts';
import type { Cell } from '../../src/sync/cells.ts';
import { changeOf } from '../../src/sync/changes.ts';
import { fromText, toText, unset } from '../../src/sync/hlc.ts';
import { addition, additions, deletion, registers, removals } from '../../src/sync/replica/edits.ts';
import { memoryStorage } from '../../src/sync/replica/memory.ts';
import { Records } from '../../src/sync/replica/records.ts';
import { FakeServer } from './fake-server.ts';
import { shownBy } from './replicas.ts';

const operations = 100_000;
const nodes = ['a', 'b', 'c', 'd', 'e'];
const [records, elements, batch] = [30, 6, 200];

/** A generator of numbers that a failure can be repeated with. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

class Node {
  readonly #random: (below: number) => number;
  readonly #changes: Changes;
  readonly records: Records;
  readonly id: string;
  #lastPage: PullResponse | undefined;
  #lastPush: Cell[] = [];
  isApart = false;

  constructor(id: string, records: Records, changes: Changes, random: (below: number) => number) {
    this.id = id;
    this.records = records;
    this.#changes = changes;
    this.#random = random;
  }

  /** Edits at random, and returns what was added to the counter that is never deleted. */
  async edit(): Promise<number> {
    const random = this.#random;
    const pk = `n${random(records)}`;
    const element = `e${random(elements)}`;
    const by = random(9) - 4;
    switch (random(12)) {
      case 0:
        await this.records.edit('notes', pk, deletion);
        return 0;
      case 1:
      case 2:
        await this.records.edit('notes', pk, (edited) => addition(edited, 'views', by));
        return 0;
      case 3:
      case 4:
        await this.records.edit('notes', pk, (edited) => additions(edited, 'tags', [element]));
        return 0;
      case 5:
      case 6:
        await this.records.edit('notes', pk, (edited) => removals(edited, 'tags', [element]));
        return 0;
      case 7:
        await this.records.edit('notes', 'counter', (edited) => addition(edited, 'total', by));
        return by;
      case 8:
        // The same field as a set elsewhere: both are kept, one is shown.
        await this.records.edit('notes', pk, (edited) => registers(edited, { tags: element }));
        return 0;
      default:
        await this.records.edit('notes', pk, (edited) => registers(edited, { [`f${random(3)}`]: by }));
        return 0;
    }
  }

  /** Pushes and pulls over a bad network. */
  async synchronize(isReliable: boolean): Promise<void> {
    const fails = (percent: number) => !isReliable && this.#random(100) < percent;
    for (
      let cells = await this.records.dirty(1_000);
      cells.length > 0;
      cells = await this.records.dirty(1_000)
    ) {
      const pushed = await this.#push(cells);
      if (fails(10)) await this.#push(this.#lastPush);
      this.#lastPush = cells;
      // The crash: the server has it, the replica does not know.
      if (fails(20)) break;
      await this.records.acknowledge(cells, pushed.LatestHLC);
    }
    for (let hasMore = true; hasMore;) {
      const page = await this.#pull();
      hasMore = page.HasMore;
      if (fails(10) && this.#lastPage) await this.records.arrive(this.#lastPage.Changes, unset);
      this.#lastPage = page;
      if (fails(20)) return;
      await this.records.arrive(isReliable ? page.Changes : this.#shuffled(page.Changes), page.LatestHLC);
    }
  }

  #push(cells: readonly Cell[]) {
    return this.#changes.push({ body: { Changes: cells.map(changeOf), NodeID: this.id } });
  }

  async #pull() {
    const { watermark } = await this.records.meta();
    const Since = watermark === '' ? unset : fromText(watermark);
    return this.#changes.pull({ body: { Tables: ['notes'], Since, NodeID: this.id } });
  }

  #shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, at: this.#random(1_000_000) }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}

async function nodeOn(server: FakeServer, id: string, skew: number, random: (below: number) => number) {
  const store = await memoryStorage().open();
  const clock = toText({ timestamp: 0, counter: 0, node_id: id });
  const meta = { nodeId: id, clock, seen: clock, offset: 0, tables: ['notes'], watermark: '' };
  await store.write((transaction) => transaction.putMeta(meta));
  const kept = new Records({
    ...{ store, now: () => server.now() + skew },
    ...{ changed: () => undefined, pushed: () => undefined },
  });
  const client = createClient({ baseUrl: 'http://server', fetch: server.fetch });
  return new Node(id, kept, changesOf(client), random);
}

const shownIn = async (node: Node) =>
  Object.fromEntries((await node.records.list('notes')).map(({ pk, fields }) => [`notes\n${pk}`, fields]));

it(
  '100,000 operations of five replicas end in one state, with the true sum',
  { timeout: 300_000 },
  async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    console.info(`seed ${seed}`);
    const random = randomOf(seed);
    const server = new FakeServer();
    let time = server.now();
    server.now = () => time;
    const all = await Promise.all(nodes.map((id, at) => nodeOn(server, id, (at - 2) * 2_000, random)));
    let sum = 0;
    for (let done = 0; done < operations; done += batch) {
      const node = all[random(all.length)]!;
      for (let at = 0; at < batch; at += 1) sum += await node.edit();
      time += random(2_000);
      if (random(10) === 0) node.isApart = !node.isApart;
      if (!node.isApart) await node.synchronize(false);
    }
    time += 10_000;
    for (let round = 0; round < 2; round += 1) for (const node of all) await node.synchronize(true);
    const expected = shownBy(server);
    expect(Object.keys(expected).length).toBeGreaterThan(records / 2);
    for (const node of all) expect(await shownIn(node)).toEqual(expected);
    expect(expected['notes\ncounter']).toEqual({ total: sum });
  },
);
