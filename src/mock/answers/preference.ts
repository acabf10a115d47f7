import type { IncomingHttpHeaders } from 'node:http';
import { Invalid } from '../../lib/errors.ts';

/** Which documented answer a request wants: RFC 7240 preferences, with Prism's names. */
export interface Preference {
  readonly code?: number;
  readonly exampleKey?: string;
  /** Whether the answer is generated from the schema for each request, instead of using the example. */
  readonly dynamic: boolean;
  /** Reproduces the same dynamic answer. */
  readonly seed?: string;
}

/** Reads `Prefer: code=404, example=name, dynamic=true, seed=7`. Other preferences are ignored. */
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
