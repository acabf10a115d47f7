import type { IncomingHttpHeaders } from 'node:http';
import { Invalid } from '../lib/errors.ts';

/** Which of the documented answers a request wants: RFC 7240 preferences, in the words of Prism. */
export interface Preference {
  readonly code?: number;
  readonly exampleKey?: string;
  /** Made up anew for each request from the schema, instead of the example. */
  readonly dynamic: boolean;
  /** Makes the same dynamic answer again. */
  readonly seed?: string;
}

/** Reads `Prefer: code=404, example=name, dynamic=true, seed=7`; preferences that are not the mock's are passed over. */
export function preference({ prefer = [] }: IncomingHttpHeaders): Preference {
  const wishes = new Map<string, string>();
  for (const wish of String(prefer).split(/[,;]/)) {
    const [name = '', value = ''] = wish.split('=').map((part) => part.trim());
    wishes.set(name.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  const code = wishes.get('code');
  if (code !== undefined && !/^[1-5]\d\d$/.test(code)) throw Invalid('Prefer: code must be an HTTP status');
  const dynamic = wishes.get('dynamic') ?? 'false';
  if (!/^(true|false)$/.test(dynamic)) throw Invalid('Prefer: dynamic must be true or false');
  const exampleKey = wishes.get('example');
  const seed = wishes.get('seed');
  return {
    dynamic: dynamic === 'true',
    ...(code === undefined ? {} : { code: Number(code) }),
    ...(exampleKey === undefined ? {} : { exampleKey }),
    ...(seed === undefined ? {} : { seed }),
  };
}
