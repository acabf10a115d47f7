import type { Presence, PresenceEvent, PresenceState, ServerInfo } from '../../services/sync/index.ts';
import { tell } from './listeners.ts';
import type { ReplicaPresence } from './types.ts';

interface Deps {
  readonly presence: Presence;
  readonly nodeId: string;
  /** Called when other topics are watched than before. */
  readonly watch: () => void;
}

interface Watched {
  data: unknown;
  others: readonly PresenceState[];
  readonly listeners: Set<(others: readonly PresenceState[]) => void>;
}

const defaultTtlMs = 30_000;
/** What takes longer is said again by the next renewal. */
const longestRequestMs = 5_000;

/** The presence of a replica on topics: renewed while it lasts, and announced again after every connection. */
export class Topics {
  readonly #deps: Deps;
  readonly #topics = new Map<string, Watched>();
  #ttlMs = defaultTtlMs;
  #renewal: ReturnType<typeof setInterval> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  names = (): string[] => [...this.#topics.keys()];

  of(topic: string): ReplicaPresence {
    const watched = this.#watched(topic);
    return {
      get others() {
        return watched.others;
      },
      set: async (data) => {
        if (data === null || data === undefined) throw new TypeError('data: null would leave the topic');
        watched.data = data;
        this.#renewal ??= setInterval(() => this.#announce(), this.#ttlMs / 3);
        await this.#send(topic, data);
      },
      leave: async () => {
        watched.data = undefined;
        await this.#send(topic, null);
      },
      subscribe: (listener) => {
        watched.listeners.add(listener);
        return () => void watched.listeners.delete(listener);
      },
    };
  }

  hear({ Type, NodeID, Topic, Data }: PresenceEvent): void {
    const watched = this.#topics.get(Topic);
    if (!watched || NodeID === this.#deps.nodeId) return;
    const others = watched.others.filter((state) => state.NodeID !== NodeID);
    const now = new Date();
    const times = {
      UpdatedAt: now.toISOString(),
      ExpiresAt: new Date(now.getTime() + this.#ttlMs).toISOString(),
    };
    this.#show(watched, Type === 'leave' ? others : [...others, { NodeID, Topic, Data, ...times }]);
  }

  /** After a connection was made: asks who is there, and says so of itself. */
  connected({ presence_ttl }: Pick<ServerInfo, 'presence_ttl'>): void {
    const seconds = /^(\d+)s$/.exec(presence_ttl)?.[1];
    if (seconds) this.#ttlMs = Number(seconds) * 1000;
    this.#announce();
    for (const [topic, watched] of this.#topics) void this.#ask(topic, watched);
  }

  async stop(): Promise<void> {
    clearInterval(this.#renewal);
    const present = [...this.#topics].filter(([, { data }]) => data !== undefined);
    await Promise.allSettled(present.map(([topic]) => this.#send(topic, null)));
  }

  #watched(topic: string): Watched {
    const known = this.#topics.get(topic);
    if (known) return known;
    const watched: Watched = { data: undefined, others: [], listeners: new Set() };
    this.#topics.set(topic, watched);
    this.#deps.watch();
    void this.#ask(topic, watched);
    return watched;
  }

  #show(watched: Watched, others: readonly PresenceState[]): void {
    watched.others = others;
    tell(watched.listeners, others);
  }

  /** Without a connection, the next one asks again. */
  async #ask(topic: string, watched: Watched): Promise<void> {
    try {
      const { States } = await this.#deps.presence.get({ topic }, { retries: 0 });
      this.#show(
        watched,
        States.filter(({ NodeID }) => NodeID !== this.#deps.nodeId),
      );
    } catch {
      return;
    }
  }

  #announce(): void {
    for (const [topic, { data }] of this.#topics)
      if (data !== undefined) this.#send(topic, data).catch(() => undefined);
  }

  async #send(topic: string, data: unknown): Promise<void> {
    await this.#deps.presence.update(
      { body: { NodeID: this.#deps.nodeId, Topic: topic, Data: data } },
      { retries: 0, timeout: longestRequestMs },
    );
  }
}
