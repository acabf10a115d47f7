import type {
  Change,
  ChangeInput,
  Hlc,
  PullResponse,
  PushResponse,
  RecordState,
} from '../../../generated/sync/types.ts';
import { tick, toText } from '../../../sdk/src/sync/hlc.ts';
import type { TestRequest, TestResponse, TestServer } from '../../testing/server.ts';

/** The server through which a test sends requests: one in this process, or one of its own. */
export type Api = Pick<TestServer, 'request'>;

/** A change without what its node adds to it. */
export type Draft = Partial<ChangeInput>;

/** A node as the tests need it: a clock, and the changes that it makes. */
export function testNode(id: string) {
  let clock: Hlc = { timestamp: 0, counter: 0, node_id: id };
  const reading = (timestamp?: number): Hlc =>
    timestamp === undefined ? (clock = tick(clock, Date.now())) : { timestamp, counter: 0, node_id: id };
  const change = (draft: Draft, at?: number) => ({
    ...{ table: 'notes', pk: 'note-1', field: 'title', crdt_type: 'lww' as const },
    ...{ hlc: reading(at), node_id: id, ...draft },
  });
  return {
    id,
    change,
    write: (pk: string, value: unknown, at?: number) => change({ pk, value }, at),
    remove: (pk: string, at?: number) => change({ pk, field: '', tombstone: true }, at),
    count: (pk: string, counter_delta: { inc: number; dec: number; since?: string }, at?: number) =>
      change({ pk, field: 'views', crdt_type: 'counter', counter_delta }, at),
    add: (pk: string, element: unknown, at?: number) =>
      change({ pk, field: 'tags', crdt_type: 'set', set_op: { op: 'add', element } }, at),
    takeBack: (pk: string, element: unknown, tags: string[], at?: number) =>
      change({ pk, field: 'tags', crdt_type: 'set', set_op: { op: 'remove', element, tags } }, at),
  };
}

export const tagOf = ({ hlc }: Pick<ChangeInput, 'hlc'>): string => toText(hlc);

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (api: Api) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await api.request(method, `/sync${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const pull = (body: object = {}, options: TestRequest = {}): Promise<PullResponse> =>
    send('POST', '/pull', { ...options, body });
  return {
    send,
    pull,
    push: (node: string, changes: readonly object[], options: TestRequest = {}): Promise<PushResponse> =>
      send('POST', '/push', { ...options, body: { NodeID: node, Changes: changes } }),
    /** Pulls to the end. */
    async pullAll(body: object = {}, options: TestRequest = {}): Promise<{ changes: Change[]; latest: Hlc }> {
      const changes: Change[] = [];
      for (let since = {}; ;) {
        const page = await pull({ ...body, ...since }, options);
        changes.push(...page.Changes);
        if (!page.HasMore) return { changes, latest: page.LatestHLC };
        since = { Since: page.LatestHLC };
      }
    },
    record: (pk: string, table = 'notes', options: TestRequest = {}): Promise<RecordState> =>
      send('GET', `/records?table=${table}&pk=${encodeURIComponent(pk)}`, options),
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await api.request(method, `/sync${path}`, options);
      return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};
