import { checkKey } from '../../content/object-key.ts';
import { asS3Error } from '../failures.ts';
import { s3Error } from '../protocol/errors.ts';
import { childrenOf, type Element, readXml, textOf } from '../protocol/xml-reader.ts';
import { document, element, elements } from '../protocol/xml.ts';
import { type Answer, bucketOf, type S3Call, type S3Deps, xmlAnswer } from './call.ts';

const mostKeys = 1000;

/** What an entry of the request means: a key to delete, or why it is not deleted. */
interface Entry {
  readonly key: string;
  readonly problem?: { readonly code: string; readonly message: string };
}

/** DeleteObjects: deletes up to 1,000 objects. */
export async function deleteObjects(deps: S3Deps, call: S3Call): Promise<Answer> {
  const root = await readXml(call.document, 'Delete');
  const named = childrenOf(root, 'Object');
  if (named.length === 0 || named.length > mostKeys)
    throw s3Error('MalformedXML', `The body must name from 1 to ${mostKeys} objects`);
  const entries = named.map(entryOf);
  const bucket = await bucketOf(deps, call);
  const keys = [...new Set(entries.filter(({ problem }) => !problem).map(({ key }) => key))].sort(byBytes);
  if (keys.length > 0) await deps.shelf.delete(call.author, bucket, keys);
  const isQuiet = textOf(root, 'Quiet')?.trim() === 'true';
  return xmlAnswer(
    document(
      'DeleteResult',
      entries.map(({ key, problem }) =>
        problem
          ? element('Error', elements({ Key: key, Code: problem.code, Message: problem.message }))
          : isQuiet
            ? undefined
            : element('Deleted', elements({ Key: key })),
      ),
    ),
  );
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function entryOf(entry: Element): Entry {
  const key = textOf(entry, 'Key');
  if (key === undefined) throw s3Error('MalformedXML', 'An object has no Key');
  try {
    checkKey(key);
    const version = textOf(entry, 'VersionId') ?? 'null';
    const conditions = ['ETag', 'LastModifiedTime', 'Size'].filter(
      (name) => textOf(entry, name) !== undefined,
    );
    if (version !== 'null' || conditions.length > 0)
      throw s3Error('NotImplemented', 'Versions of objects and conditions of deletions are not supported');
    return { key };
  } catch (error) {
    return { key, problem: asS3Error(error) };
  }
}
