/** Set-up for the tests of storage: buckets and what they hold. */
import type { Credential } from '../harness.ts';

type Sender = Pick<Credential, 'plinth' | 'fetch'>;

const base = '/storage/store/v1';

/** The hash and the bytes of the contract's examples. */
export const abc = 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

/** Well-formed names of nothing. */
export const absent = { bucket: 'absent', key: 'absent/key' } as const;

/** Sends a request to a path of the service, for bodies and headers that the SDK does not send. */
export const send = (
  { fetch }: Sender,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: BodyInit,
): Promise<Response> => fetch(base + path, { method, headers, ...(body !== undefined && { body }) });

/** Stores content under a key. */
export const put = (sender: Sender, bucket: string, key: string, content = 'abc', headers = {}) =>
  send(
    sender,
    'PUT',
    `/buckets/${bucket}/objects/${key}`,
    { 'content-type': 'image/jpeg', ...headers },
    content,
  );

/** Creates a bucket with one object. Both have the names of the examples. */
export async function newBucket(sender: Sender, settings: object = {}): Promise<void> {
  await sender.plinth.storage.buckets.create({ body: { name: 'photos', ...settings } });
  await put(sender, 'photos', '2026/cat.jpg');
}

/** Creates one thing of every kind, and returns their ids by kind. */
export async function leaveContent(sender: Sender): Promise<Record<string, string>> {
  const { storage } = sender.plinth;
  // The tenant may have been furnished before.
  const { id: bkt } = await storage.buckets
    .create({ body: { name: 'photos' } })
    .catch(() => storage.buckets.get({ bucket: 'photos' }));
  await put(sender, 'photos', '2026/cat.jpg');
  const { id: upl } = await storage.uploads.create({ bucket: 'photos', body: { key: 'film.mp4' } });
  await send(sender, 'PUT', '/cas', {}, 'abc');
  return { bkt, upl };
}
