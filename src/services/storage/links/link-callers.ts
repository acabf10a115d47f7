import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/caller.ts';
import type { CredentialRequest, OwnCredentials } from '../../../http/service.ts';
import { DomainError } from '../../../lib/errors.ts';
import { type BucketRow, bucketStore } from '../buckets/buckets.store.ts';
import { isSignedLink, linkKey } from '../content/link-signature.ts';
import { bucketInPath, keyFromPath } from '../content/object-key.ts';
import { LinkInvalid } from '../errors.ts';
import type { LinkKeys } from './link-keys.ts';
import type { SubjectJudge } from './link-subjects.ts';

/** The operations that links can be made for. */
const linkable: ReadonlySet<string> = new Set([
  ...['Objects_get', 'Objects_head', 'Objects_put', 'Objects_delete'],
]);

export interface LinkCallersDeps {
  readonly db: Database;
  readonly linkKeys: LinkKeys;
  readonly mayStill: SubjectJudge;
}

/** Identifies those who use a signed link: they act for whoever had the link made. All links that are not valid fail in the same way. */
export const linkCallers =
  ({ db, linkKeys, mayStill }: LinkCallersDeps): OwnCredentials =>
  async (request) => {
    const parameters = parametersOf(request.url);
    if (!linkable.has(request.operation) || !isLink(parameters)) return undefined;
    const link = readLink(request, parameters);
    const bucket = link && (await bucketStore(db.sql).find(link.tenant, link.bucket));
    // The signature is computed for unknown buckets and keys, too, so that the time says nothing about them.
    const key = linkKey(linkKeys.get(link?.kid ?? '') ?? nobodys, link?.tenant ?? '', bucket?.id ?? '');
    const isSigned =
      link !== undefined &&
      isSignedLink(key, { method: request.method, key: link.key, parameters: link.signed }, link.signature);
    if (!isSigned || !bucket || !linkKeys.has(link.kid) || !isUsable(link, request)) throw LinkInvalid();
    const caller = callerOf(link, bucket, request.method);
    const { requestId } = request;
    const maker = { tenant: caller.tenant, app: caller.app, subject: link.signed['store_subject'] };
    if (!(await mayStill({ ...maker, scope: caller.scopes[0]!, requestId }))) throw LinkInvalid();
    return caller;
  };

/** A link without its signature is one too, and not valid: beside a credential, the tenant that it names would be dropped. */
const isLink = (parameters: URLSearchParams) =>
  [...parameters.keys()].some((name) => name.startsWith('store_'));

const nobodys = Buffer.alloc(32);

const parametersOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');

/** A link as it was called. */
interface Link {
  readonly bucket: string;
  readonly key: string;
  readonly tenant: string;
  readonly kid: string;
  readonly signature: string;
  /** All parameters but the signature. */
  readonly signed: Readonly<Record<string, string>>;
}

function readLink({ url }: CredentialRequest, parameters: URLSearchParams): Link | undefined {
  const { store_signature: signature, ...signed } = Object.fromEntries(parameters);
  const { store_tenant: tenant, store_kid: kid } = signed;
  const isOnce = [...parameters].length === Object.keys(signed).length + 1;
  const key = keyIn(url);
  if (!isOnce || [signature, tenant, kid, key].includes(undefined)) return undefined;
  return { bucket: bucketInPath(url), key: key!, tenant: tenant!, kid: kid!, signature: signature!, signed };
}

function keyIn(url: string): string | undefined {
  try {
    return keyFromPath(url);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

/** Whether the link has not expired, and the request is what the link demands. */
function isUsable({ signed }: Link, { headers }: CredentialRequest): boolean {
  const { store_expires: expires = '', store_content_type: type } = signed;
  if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= Date.now()) return false;
  return type === undefined || headers['content-type'] === type;
}

function callerOf({ tenant, kid, signed }: Link, bucket: BucketRow, method: string): Caller {
  const [kind, ...rest] = (signed['store_subject'] ?? 'client:link').split(':');
  const subject = rest.join(':');
  return {
    tenant,
    app: bucket.app_id,
    actor: subject,
    userId: kind === 'user' ? subject : null,
    subjectId: null,
    credential: { kind: 'own', id: kid },
    session: null,
    scopes: [method === 'GET' || method === 'HEAD' ? 'storage:read' : 'storage:write'],
    confined: true,
  };
}
