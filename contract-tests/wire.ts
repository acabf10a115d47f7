import { breaches } from './conformance.ts';
import { nameOf, operationAt } from './contract.ts';
import { note } from './records.ts';

export interface WireOptions {
  readonly target: string;
  /** Sent with every request unless the request overrides them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called for every answer that breaks the contract. */
  readonly onBreach: (breach: string) => void;
}

/**
 * Returns a `fetch` that records which operation answered with which status, and checks every answer against the OpenAPI
 * document. It changes only the given headers.
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
