import type { LinkRequest, SignedLink } from '../../../../generated/storage/types.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden, Invalid } from '../../../lib/errors.ts';
import { parseDuration } from '../../../lib/durations.ts';
import type { BucketRow } from '../buckets/buckets.store.ts';
import { encodedKey, encodedQuery, linkKey, signLink } from '../content/link-signature.ts';
import { checkKey } from '../content/object-key.ts';
import type { LinkKeys } from './link-keys.ts';

const longestMs = 168 * 3_600_000;

export interface LinkMaker {
  readonly linkKeys: LinkKeys;
  /** Where the paths of the service begin for clients. */
  readonly baseUrl: string;
}

/** Makes a link that works without a credential, on behalf of the caller. */
export function signedLink(
  { linkKeys, baseUrl }: LinkMaker,
  bucket: BucketRow,
  request: LinkRequest,
  context: Context,
): SignedLink {
  const { method, content_type, max_bytes, if_none_match } = request;
  const key = checkKey(request.key);
  checkRights(request, context);
  const expires = Math.floor(Date.now() / 1000 + seconds(request.expires_in ?? '15m'));
  const [kid, secret] = [...linkKeys][0]!;
  const parameters = given({
    store_expires: String(expires),
    store_kid: kid,
    store_tenant: context.tenant,
    store_subject: subjectOf(context),
    store_max_bytes: max_bytes == null ? undefined : String(max_bytes),
    store_content_type: content_type ?? undefined,
    store_if_none_match: if_none_match ?? undefined,
  });
  const signature = signLink(linkKey(secret, context.tenant, bucket.id), { method, key, parameters });
  const path = `/buckets/${bucket.name}/objects/${encodedKey(key)}`;
  return {
    url: `${baseUrl}${path}?${encodedQuery(parameters)}&store_signature=${signature}`,
    method,
    headers: content_type == null ? {} : { 'Content-Type': content_type },
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

function checkRights(request: LinkRequest, context: Context): void {
  if (request.method === 'PUT') return checkScope(context);
  for (const name of ['max_bytes', 'content_type', 'if_none_match'] as const)
    if (request[name] != null) throw Invalid(`${name}: only with PUT`);
  if (request.method === 'DELETE') checkScope(context);
}

function checkScope(context: Context): void {
  if (!context.holds('storage:write')) throw Forbidden('missing scope storage:write');
}

function seconds(duration: string): number {
  const ms = parseDuration(duration, 'expires_in');
  if (ms < 1000) throw Invalid('expires_in: at least 1s');
  if (ms > longestMs) throw Invalid('expires_in: at most 168h');
  return ms / 1000;
}

/** Who uses the link: the caller, unless it is root. */
function subjectOf({ userId, credential, actor }: Context): string | undefined {
  if (userId !== null) return `user:${userId}`;
  if (credential.kind === 'key') return `key:${credential.id}`;
  return credential.kind === 'token' ? `client:${actor}` : undefined;
}

const given = (parameters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
