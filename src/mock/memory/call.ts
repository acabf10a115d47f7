/** One request to a stateful mock, and common questions about it. */
import type { Operation } from '../../../generated/operations.ts';
import { operationOf, resolve, type Document } from '../contract/document.ts';
import type { Item, Plan, Resource } from '../contract/plans.ts';
import { isValues, type Values } from '../contract/values.ts';
import type { Content, Received } from './contents.ts';
import type { StoredRecord, NewRecord } from './memory.ts';

/** The caller's records, and the operation's effect. */
export interface Store {
  readonly items: readonly Item[];
  /** The effect of the operation on the record that it acts on. */
  readonly effect: Values;
  records(resource: Resource): StoredRecord[];
  add(resource: Resource, record: NewRecord): StoredRecord;
  fill(record: StoredRecord, content: Content): void;
  remove(record: StoredRecord): void;
}

export interface Call {
  readonly document: Document;
  readonly operation: Operation;
  /** Parameters by name, and the body. */
  readonly request: Values;
  /** The body when it is neither JSON nor a form. */
  readonly received: Received | undefined;
  readonly plan: Plan;
  readonly store: Store;
  readonly now: Date;
}

/** An answer from the memory. Without a body or content, it is the example for the status. */
export interface Outcome {
  readonly status: number;
  readonly body?: unknown;
  /** Uploaded bytes and their type. */
  readonly content?: Pick<Content, 'bytes' | 'type'>;
  /** Adapts the text of an example stream to this answer. */
  readonly retold?: (text: string) => string;
  /** Adapts the example's headers to this answer. */
  headers(example: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** Returns the example of a failure, or the given body. */
export const failure = (status: number, body?: unknown): Outcome => ({
  status,
  body,
  headers: (headers) => headers,
});

/** Returns the members that were sent, or that follow from the bytes sent. */
export function sentBy({ request, received }: Call): Values {
  if (received) return received.told;
  return isValues(request['body']) ? request['body'] : {};
}

/** Returns the members that the body may have. */
export function settableBy({ document, operation }: Call): ReadonlySet<string> {
  const [media] = Object.values(operationOf(document, operation.id).requestBody?.content ?? {});
  return new Set(Object.keys((media?.schema && resolve(document, media.schema).properties) ?? {}));
}

export const documents = ({ operation }: Call, status: number): boolean =>
  operation.responses.some((response) => response.status === status);

export const missing = (call: Call): Outcome | undefined => (documents(call, 404) ? failure(404) : undefined);
