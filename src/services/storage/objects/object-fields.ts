import type { CopyRequest, ObjectChanges } from '../../../../generated/storage/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { checkMetadata } from '../content/metadata.ts';
import type { ObjectFields } from './objects.store.ts';

/** The fields of content of which nothing is known. */
export const plainFields: ObjectFields = {
  content_type: 'application/octet-stream',
  cache_control: null,
  content_disposition: null,
  content_encoding: null,
  content_language: null,
  metadata: {},
};

/** The headers of a request that are stored with the content. */
export interface FieldHeaders {
  readonly 'Content-Type'?: string | undefined;
  readonly 'Cache-Control'?: string | undefined;
  readonly 'Content-Disposition'?: string | undefined;
  readonly 'Content-Encoding'?: string | undefined;
  readonly 'Content-Language'?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

const mediaType = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+\/[A-Za-z0-9!#$%&'*+.^_`|~-]+([ \t]*;[\t -~]*)?$/;

export function fieldsInHeaders(headers: FieldHeaders): ObjectFields {
  const contentType = headers['Content-Type'] ?? plainFields.content_type;
  if (contentType.length > 255 || !mediaType.test(contentType))
    throw Invalid('Content-Type: must be a media type of at most 255 characters');
  checkMetadata(headers.metadata);
  return {
    content_type: contentType,
    cache_control: headers['Cache-Control'] ?? null,
    content_disposition: headers['Content-Disposition'] ?? null,
    content_encoding: headers['Content-Encoding'] ?? null,
    content_language: headers['Content-Language'] ?? null,
    metadata: headers.metadata,
  };
}

const members = [
  ...(['content_type', 'cache_control', 'content_disposition', 'content_encoding'] as const),
  ...(['content_language', 'metadata'] as const),
];

/** The fields that a request changes; null brings back the default. */
export function changedFields(changes: ObjectChanges): Partial<ObjectFields> {
  if (changes.metadata) checkMetadata(changes.metadata);
  return Object.fromEntries(
    members.flatMap((name) =>
      changes[name] === undefined ? [] : [[name, changes[name] ?? plainFields[name]] as const],
    ),
  );
}

/** The fields of a copy; undefined when it keeps those of the source. */
export function fieldsOfCopy(request: CopyRequest): ObjectFields | undefined {
  if (request.metadata_directive === 'replace') return { ...plainFields, ...changedFields(request) };
  const stray = members.find((name) => request[name] != null);
  if (stray !== undefined) throw Invalid(`${stray}: only with metadata_directive replace`);
  return undefined;
}
