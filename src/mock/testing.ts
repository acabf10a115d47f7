/** Helpers for tests of a stateful mock: they send requests from the contract's examples and check the answers against the contract. */
import { breaches } from '../../contract-tests/conformance.ts';
import { exampleRequest, type Parts } from '../../contract-tests/requests.ts';
import type { Operation } from '../../generated/operations.ts';
import type { Mock } from './index.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends the example request as a tenant. Violations of the contract by the answer are added to `wrong`. */
export async function send(
  mock: Mock,
  operation: Operation,
  tenant: string,
  parts: Parts,
  wrong: string[],
): Promise<Answer> {
  const { path, init } = exampleRequest(operation, 'body' in parts && parts.body === undefined ? {} : parts);
  const headers = {
    ...{ accept: 'application/json', authorization: 'Bearer any', 'x-tenant-id': tenant },
    ...init.headers,
  };
  const response = await fetch(`${mock.url}${path}`, { ...init, headers });
  wrong.push(...(await breaches(operation, response)));
  const isJson = response.headers.get('content-type') === 'application/json';
  const text = await response.text();
  return { status: response.status, body: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined };
}

/** Returns the body with changed names, so that it does not match the examples. */
export function renamed(body: unknown, keys: readonly string[]): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const members = Object.entries(body).map(([name, value]: [string, unknown]) =>
    keys.includes(name) && typeof value === 'string' ? [name, value + value.at(-1)] : [name, value],
  );
  return Object.fromEntries(members) as unknown;
}

/** Returns the id with the example's prefix, wherever the answer has it. */
export function idIn(body: unknown, example: unknown): string | undefined {
  const prefix = String(example).slice(0, -26);
  return new RegExp(`"(?:id|[a-z_]*_id)":"(${prefix}[0-7][0-9a-hjkmnp-tv-z]{25})"`).exec(
    JSON.stringify(body) ?? '',
  )?.[1];
}
