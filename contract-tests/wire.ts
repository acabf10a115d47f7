import { breaches } from './conformance.ts';
import { nameOf, operationAt } from './contract.ts';
import { note } from './records.ts';

export interface WireOptions {
  readonly target: string;
  /** Sent with every request unless the request says otherwise. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hears of every answer that breaks the contract. */
  readonly onBreach: (breach: string) => void;
}

/**
 * A `fetch` that notes which operation answered with which status, and judges every answer by the OpenAPI document. It
 * changes nothing but the headers given.
 */
export function recordingFetch({ target, headers, onBreach }: WireOptions): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (const [name, value] of Object.entries(headers))
      if (!request.headers.has(name)) request.headers.set(name, value);
    const response = await fetch(request);
    const operation = operationAt(request.method, new URL(request.url).pathname);
    if (operation) {
      note({ target, operation: nameOf(operation), status: response.status });
      for (const breach of await breaches(operation, response)) onBreach(breach);
    }
    return response;
  };
}
