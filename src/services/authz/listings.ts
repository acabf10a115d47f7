import { createHash } from 'node:crypto';
import type { Decisions } from '../../../generated/authz/server.ts';
import type { ListObjectsRequest, ListSubjectsRequest } from '../../../generated/authz/types.ts';
import { monotonic } from '../../db/clock.ts';
import type { Context } from '../../http/context.ts';
import { decodeCursor, encodeCursor } from '../../lib/cursors.ts';
import { Invalid } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { listObjects, listSubjects } from './engine/listing.ts';
import type { Listing, ListingPage, ListOptions } from './engine/types.ts';
import type { Model } from './engine/model.ts';
import { checkQuestion } from './question.ts';

type Request = ListObjectsRequest | ListSubjectsRequest;

/** The listings of ids. Each page says whether it is complete and carries a cursor when it is not. */
export const listings = ({ models, settings }: Pick<Deps, 'models' | 'settings'>) => {
  const limits = { depth: settings.maxDepth, visits: settings.maxVisits };

  async function page(
    request: Request,
    tenant: string,
    list: (model: Model, options: ListOptions) => Listing,
  ): Promise<{ ids: string[]; rest: Rest }> {
    checkQuestion(request);
    const query = hashOf(request);
    const place = placeOf(request.cursor, query);
    const freshness = { ...request, min_revision: Math.max(request.min_revision ?? 0, place?.revision ?? 0) };
    const options = {
      limits,
      limit: request.limit,
      after: place?.after,
      budget: settings.listBudget,
      clock: monotonic,
    };
    const found = await models.list(tenant, freshness, (model, now) => list(model, { ...options, now }));
    return { ids: [...found.ids], rest: restOf(found, query) };
  }

  return {
    async listObjects({ body }, { tenant }) {
      const { ids, rest } = await page(body, tenant, (model, options) => listObjects(model, body, options));
      return { resource_ids: ids, ...rest };
    },

    async listSubjects({ body }, { tenant }) {
      const { ids, rest } = await page(body, tenant, (model, options) => listSubjects(model, body, options));
      return { subject_ids: ids, ...rest };
    },
  } satisfies Pick<Decisions<Context>, 'listObjects' | 'listSubjects'>;
};

interface Rest {
  all: boolean;
  others: boolean;
  complete: boolean;
  next_cursor: string;
  revision: number;
}

function restOf({ all, others, complete, position, revision }: ListingPage, query: string): Rest {
  // The id is encoded as base64url: escaped as JSON it could outgrow the cursor.
  const id = Buffer.from(position).toString('base64url');
  return {
    all,
    others,
    complete,
    next_cursor: complete ? '' : encodeCursor({ id, revision, query }),
    revision,
  };
}

function placeOf(cursor: string, query: string): { after: string; revision: number } | undefined {
  if (cursor === '') return undefined;
  const place = decodeCursor(cursor, { id: 'string', revision: 'number', query: 'string' });
  if (place.query !== query) throw Invalid('cursor: belongs to another query');
  return { after: Buffer.from(place.id, 'base64url').toString(), revision: place.revision };
}

/** Hashes a query. The hash does not depend on the page size. */
function hashOf(request: Request): string {
  const { limit: _, cursor: __, min_revision: ___, fresh: ____, ...query } = request;
  return createHash('sha256').update(canonical(query)).digest('base64url').slice(0, 16);
}

/** Returns JSON with the keys of every object in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
