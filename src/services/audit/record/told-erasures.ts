import { type ContentPart, isEncrypted } from './parts.ts';

/** The action of the events that say that a person was erased. */
export const erasedAction = 'erasure.completed';

/** What the chain tells of an erasure, in the metadata of its event. */
export interface ToldErasure {
  readonly erasure_id: string;
  readonly events_affected: number;
  readonly key_destroyed: boolean;
  /** The owner that commitments name, in hex; null when no key was destroyed. Earlier versions do not tell it. */
  readonly owner?: string | null;
}

/** What the content of an event says of an erasure; undefined when somebody changed it. */
export function erasureIn(content: Buffer): ToldErasure | undefined {
  if (isEncrypted(content)) return undefined;
  try {
    return (JSON.parse(content.toString('utf8', 1)) as ContentPart).metadata as ToldErasure;
  } catch {
    return undefined;
  }
}
