/** Credentials that sufficed before: their kind, where they are sent, and whom they admit. */
import { lostScheme, shutOut } from './access.ts';
import type { Draft, Request } from './break.ts';
import type { Operation, Scheme } from './document.ts';
import { remaining, unjudged } from './remains.ts';

/** Finds credentials that must now be sent in another place or form: the server no longer reads them where clients send them. */
export function redefined(before: Operation, after: Operation, request: Request): Draft[] {
  const names = [...new Set(before.security.flatMap((way) => Object.keys(way)))];
  return names.flatMap((name): Draft[] => {
    const [was, is] = [before.schemes[name], after.schemes[name]];
    if (!was || !is || !after.security.some((way) => name in way)) return [];
    const moved = ['type', 'in', 'name'].some((key) => was[key] !== is[key]);
    const other = String(was['scheme']).toLowerCase() !== String(is['scheme']).toLowerCase();
    const place = 'security';
    if (moved || other) {
      const message = `${name} is sent otherwise than before`;
      return [
        {
          place,
          change: `${name}-definition`,
          message,
          cause: `scheme ${name}`,
          outcome: 'was let in, now 401',
          request,
        },
      ];
    }
    const lost = lostScope(was, is);
    if (lost !== undefined) {
      const message = `the scope ${lost} of ${name} cannot be asked for`;
      return [
        {
          place,
          change: `${name}-scope`,
          message,
          cause: `scheme ${name}`,
          outcome: 'was given, now refused',
        },
      ];
    }
    return remaining(place, unjudged(spoken(was), spoken(is), ['scheme'])).map((draft) => ({
      ...draft,
      cause: `scheme ${name}`,
    }));
  });
}

type Flows = Readonly<Record<string, { readonly scopes?: Readonly<Record<string, string>> } | undefined>>;

const flowsOf = (scheme: Scheme): Flows => (scheme['flows'] as Flows | undefined) ?? {};

/** Returns a scope that could be requested and no longer can. */
const lostScope = (was: Scheme, is: Scheme): string | undefined =>
  Object.entries(flowsOf(was))
    .flatMap(([flow, old]) =>
      Object.keys(old?.scopes ?? {}).filter((scope) => !(scope in (flowsOf(is)[flow]?.scopes ?? {}))),
    )
    .at(0);

/** Returns a scheme without its scopes: they are compared by name, and the rest is description. */
const spoken = (scheme: Scheme): Scheme =>
  'flows' in scheme
    ? {
        ...scheme,
        flows: Object.fromEntries(
          Object.entries(flowsOf(scheme)).map(([name, flow]) => [name, { ...flow, scopes: {} }]),
        ),
      }
    : scheme;

export function credentials(before: Operation, after: Operation, request: Request): Draft[] {
  const as = (credential: string): Request => ({
    ...request,
    headers: { ...request.headers, Authorization: `<${credential}>` },
  });
  const caller = shutOut(before, after);
  if (caller !== undefined) {
    const place = { place: 'access', change: after.access, cause: `access ${before.access} ${after.access}` };
    const message = `refuses ${caller}: it needs ${after.access}, not ${before.access}`;
    return [{ ...place, message, outcome: 'was let in, now 401 or 403', request: as(caller) }];
  }
  const scheme = lostScheme(before, after);
  if (scheme === undefined) return [];
  const change = scheme.replaceAll(' ', '-');
  const message = `${scheme} is no longer enough`;
  const cause = `security ${scheme}`;
  return [{ place: 'security', change, message, cause, outcome: 'was let in, now 401', request: as(scheme) }];
}
