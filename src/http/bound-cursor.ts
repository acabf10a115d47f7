import { createHash } from 'node:crypto';
import { boundLength, notACursor } from '../lib/cursors.ts';
import { Invalid } from '../lib/errors.ts';
import type { Answer } from './call.ts';
import type { Context } from './context.ts';
import type { Operation } from './operation.ts';
import type { Request } from './request.ts';

/** Binds cursors to their list: adds a mark to each cursor that is handed out, and checks and removes it when the cursor returns. */
export interface BoundCursor {
  /**
   * Removes the mark from the cursor of a request.
   * @throws Invalid for a cursor that comes with an offset, and for one of another list, of another tenant or app, or of the same
   *   list with other filters.
   */
  open(request: Request, call: Call): void;
  /** Adds the mark to the next cursor in the response: in its header, or in the `next_cursor` or `cursor` of what the handler returned. */
  close(request: Request, call: Call, result: unknown): void;
}

const nextCursor = 'X-Next-Cursor';

/** The part of a call that binds its cursors. */
type Call = Pick<Context, 'tenant' | 'app'> & { readonly reply: Answer };

/** Parameters that may change from page to page. */
const free: ReadonlySet<string> = new Set(['cursor', 'limit', 'offset']);

/**
 * Binds the cursors of a list to that list, so that no handler has to: a cursor names a position, and in another list, or under
 * other filters, the same position means something else. The mark is not a secret: a forged cursor only chooses a position.
 * Returns undefined for an operation without cursors.
 */
export function boundCursor({ service, id, parameters }: Operation): BoundCursor | undefined {
  if (!parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'cursor'))
    return undefined;
  const filters = parameters.map(({ name }) => name).filter((name) => !free.has(name));
  const markOf = (request: Request, { tenant, app }: Call) =>
    createHash('sha256')
      .update(JSON.stringify([service, id, tenant, app, filters.map((name) => request[name] ?? null)]))
      .digest('base64url')
      .slice(0, boundLength);
  return {
    open(request, call) {
      const { cursor, offset } = request;
      if (typeof cursor !== 'string') return;
      // The cursor is a position already, and an offset would move it. The offset's default, 0, is no offset.
      if (typeof offset === 'number' && offset > 0) throw Invalid('cursor: cannot be combined with offset');
      if (cursor.length <= boundLength || !cursor.endsWith(markOf(request, call))) throw notACursor();
      request['cursor'] = cursor.slice(0, -boundLength);
    },
    close(request, call, result) {
      const headers = call.reply.headers;
      const next = headers?.[nextCursor];
      if (typeof next === 'string') headers![nextCursor] = next + markOf(request, call);
      if (isEnvelope(result)) result.next_cursor += markOf(request, call);
      else if (isListing(result)) result.cursor += markOf(request, call);
    },
  };
}

const isEnvelope = (result: unknown): result is { next_cursor: string } =>
  typeof result === 'object' &&
  result !== null &&
  'next_cursor' in result &&
  typeof result.next_cursor === 'string';

/** A listing that says separately whether it was truncated. */
const isListing = (result: unknown): result is { cursor: string } =>
  typeof result === 'object' &&
  result !== null &&
  'truncated' in result &&
  'cursor' in result &&
  typeof result.cursor === 'string';
