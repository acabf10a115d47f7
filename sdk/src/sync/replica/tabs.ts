import type { PresenceEvent } from '../../services/sync/types.ts';
import type { ReplicaStatus } from './types.ts';

/** What the tabs that share a storage tell one another. */
export type Message =
  | {
      readonly type: 'changed';
      readonly records: ReadonlyMap<string, ReadonlySet<string>>;
      readonly isEdit: boolean;
    }
  | { readonly type: 'status'; readonly state: ReplicaStatus['state']; readonly error?: string }
  | { readonly type: 'presence'; readonly event: PresenceEvent }
  | { readonly type: 'topics'; readonly topics: readonly string[] }
  /** From a new tab, and from one that has begun to lead: the others answer with what they know. */
  | { readonly type: 'hello' };

/** The tabs that share a storage. One of them leads: only it is connected. */
export interface Tabs {
  tell(message: Message): void;
  /** Runs the work once no other tab does. */
  lead(work: () => Promise<void>, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function tabsOf(shared: string | undefined, hear: (message: Message) => void): Tabs {
  const isBrowser =
    typeof BroadcastChannel === 'function' && typeof navigator === 'object' && 'locks' in navigator;
  if (shared === undefined || !isBrowser) return { tell: () => {}, lead: (work) => work(), close: () => {} };
  const channel = new BroadcastChannel(shared);
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  let isOpen = true;
  return {
    // An edit that ends after the replica has stopped is durable all the same.
    tell: (message) => isOpen && channel.postMessage(message),
    async lead(work, signal) {
      try {
        await navigator.locks.request(shared, { signal }, work);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    close() {
      isOpen = false;
      channel.close();
    },
  };
}
