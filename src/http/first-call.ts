import type { OpenApi } from './merged-document.ts';

/** A call that somebody new can make: it needs nothing but a token, and changes nothing. */
export interface FirstCall {
  /** The path on this server. */
  readonly path: string;
  /** What it does, as the contract says. */
  readonly summary: string;
}

/** Returns the first list in the documents that needs no parameter; undefined if there is none. */
export function firstCall(
  parts: readonly { readonly prefix: string; readonly document: Pick<OpenApi, 'paths'> }[],
): FirstCall | undefined {
  for (const { prefix, document } of parts) {
    for (const [path, { get }] of Object.entries(document.paths)) {
      const isOpen = get?.security !== undefined || get?.parameters?.some(({ required }) => required);
      if (get?.operationId.endsWith('_list') && !isOpen && !path.includes('{'))
        return { path: prefix + path, summary: get.summary ?? '' };
    }
  }
  return undefined;
}
