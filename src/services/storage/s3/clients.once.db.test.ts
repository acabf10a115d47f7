import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { s3TestServer, type S3TestServer } from './testing/server.ts';
import { type AccessKey, newName } from './testing/signer.ts';

/*
 * The programs that people use with S3, as they are installed. One that is not installed is skipped, by its name. Each stores a folder
 * with an object that it divides into parts, reads it back, and does what it is known for.
 */

const isInstalled = (command: string, ...words: string[]) => spawnSync(command, words).status === 0;
const pythons = ['/usr/bin/python3', 'python3'];
const python = pythons.find((one) => isInstalled(one, '-c', 'import boto3'));
const installed = {
  aws: isInstalled('aws', '--version'),
  'aws (system)': isInstalled('/usr/bin/aws', '--version'),
  boto3: python !== undefined,
  rclone: isInstalled('rclone', 'version'),
  restic: isInstalled('restic', 'version'),
  s3cmd: isInstalled('s3cmd', '--version'),
};
const clientTest = (client: keyof typeof installed) => test.skipIf(!installed[client]);

// Programs take seconds to start, and many times as long on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

let given: S3TestServer;
let key: AccessKey;
let folder: string;
let source: string;

beforeAll(async () => {
  given = await s3TestServer();
  key = await given.accessKey();
  folder = await mkdtemp(join(tmpdir(), 'plinth-s3-'));
  source = join(folder, 'source');
  await mkdir(join(source, 'sub folder'), { recursive: true });
  await writeFile(join(source, 'large'), randomBytes(11 * 1024 * 1024));
  await writeFile(join(source, 'empty'), '');
  await writeFile(join(source, 'sub folder', 'ü+ä %41.txt'), 'text');
  for (let count = 0; count < 20; count++) await writeFile(join(source, `small-${count}`), String(count));
});
afterAll(async () => {
  await given.server.close();
  await rm(folder, { recursive: true, force: true });
});

const run = promisify(execFile);

/** Nothing of the environment of the test but the path, so that no configuration of the machine counts. */
const environment = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  LANG: 'C.UTF-8',
  AWS_ACCESS_KEY_ID: key.access_key_id,
  AWS_SECRET_ACCESS_KEY: key.secret_access_key,
  AWS_DEFAULT_REGION: 'eu-central-1',
  AWS_EC2_METADATA_DISABLED: 'true',
  RESTIC_PASSWORD: 'secret',
});

async function call(command: string, ...words: string[]): Promise<string> {
  const { stdout } = await run(command, words, { env: environment(), maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

/** Whether a folder has the same files as the source. */
const isSource = async (other: string) => (await call('diff', '-r', source, other)) === '';

const mounts = [
  ['under a path', () => given.base],
  ['on a port of its own', () => given.ownBase],
] as const;

/** The one in the path, and the one of the system, which may be much older; each start takes seconds. */
describe.each([
  ['aws', 'aws', 'under a path'],
  ['aws (system)', '/usr/bin/aws', 'on a port of its own'],
] as const)('%s', (name, command, where) => {
  clientTest(name)(`synchronizes, copies and deletes ${where}`, async () => {
    const endpoint = new Map(mounts).get(where)!();
    const aws = (...words: string[]) => call(command, '--endpoint-url', endpoint, ...words);
    const [bucket, back] = [`s3://${newName()}`, join(folder, newName())];
    await aws('s3', 'mb', bucket);
    await aws('s3', 'sync', '--quiet', source, `${bucket}/a`);
    await aws('s3', 'cp', '--quiet', '--recursive', `${bucket}/a`, `${bucket}/b`);
    await aws('s3', 'sync', '--quiet', `${bucket}/b`, back);
    expect(await isSource(back)).toBe(true);
    expect(await aws('s3', 'rb', '--force', bucket)).toContain('remove_bucket');
  });
});

describe('rclone', () => {
  /** Some kinds of servers are expected to answer the entity tags that S3 computes of parts. */
  for (const [where, endpoint] of mounts)
    for (const provider of ['Other', 'Minio'])
      clientTest('rclone')(`stores, compares, moves and purges as ${provider} ${where}`, async () => {
        const { access_key_id: id, secret_access_key: secret } = key;
        const remote = `:s3,provider=${provider},access_key_id=${id},secret_access_key=${secret},endpoint="${endpoint()}":${newName()}`;
        const rclone = (...words: string[]) =>
          call('rclone', '--retries', '1', '--s3-upload-cutoff', '5M', '--s3-chunk-size', '5M', ...words);
        const back = join(folder, newName());
        await rclone('copy', source, `${remote}/a`);
        await rclone('check', source, `${remote}/a`);
        expect(await rclone('md5sum', `${remote}/a/small-7`)).toContain('8f14e45fceea167a5a36dedd4bea2543');
        await rclone('copy', `${remote}/a`, `${remote}/b`);
        await rclone('moveto', `${remote}/b/large`, `${remote}/b/moved`);
        expect((await rclone('lsf', '-R', '--files-only', remote)).trim().split('\n')).toHaveLength(46);
        await rclone('sync', `${remote}/a`, back);
        expect(await isSource(back)).toBe(true);
        await rclone('purge', remote);
      });
});

describe('s3cmd', () => {
  clientTest('s3cmd')('stores, compares, describes and deletes on a port of its own', async () => {
    const { host } = new URL(given.ownBase);
    const configuration = join(folder, newName());
    const lines = {
      ...{ access_key: key.access_key_id, secret_key: key.secret_access_key, use_https: 'False' },
      ...{ host_base: host, host_bucket: host, multipart_chunk_size_mb: '5' },
    };
    const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}\n`);
    await writeFile(configuration, `[default]\n${text.join('')}`);
    const s3cmd = (...words: string[]) => call('s3cmd', '-c', configuration, '--no-progress', ...words);
    const [bucket, back] = [`s3://${newName()}`, `${join(folder, newName())}/`];
    await mkdir(back);
    await s3cmd('mb', bucket);
    await s3cmd('sync', `${source}/`, `${bucket}/a/`);
    expect(await s3cmd('sync', `${source}/`, `${bucket}/a/`)).not.toContain('upload:');
    expect(await s3cmd('info', `${bucket}/a/large`)).toContain('File size: 11534336');
    await s3cmd('cp', `${bucket}/a/large`, `${bucket}/copy`);
    await s3cmd('modify', '--add-header=x-amz-meta-color:red', `${bucket}/copy`);
    expect(await s3cmd('info', `${bucket}/copy`)).toContain('x-amz-meta-color: red');
    await s3cmd('sync', `${bucket}/a/`, back);
    expect(await isSource(back)).toBe(true);
    await s3cmd('del', '-r', '--force', bucket);
    await s3cmd('rb', bucket);
  });
});

describe('restic', () => {
  clientTest('restic')('backs up, checks, restores and forgets on a port of its own', async () => {
    const repository = `s3:${given.ownBase}/${newName()}`;
    const restic = (...words: string[]) => call('restic', '-q', '-r', repository, ...words);
    const back = join(folder, newName());
    await restic('init');
    await restic('backup', source);
    await restic('backup', source);
    await restic('check', '--read-data');
    await restic('restore', 'latest', '--target', back);
    expect(await isSource(join(back, source))).toBe(true);
    await restic('forget', '--keep-last', '1', '--prune');
    await restic('check');
  });
});

describe('boto3', () => {
  for (const [where, endpoint] of mounts)
    clientTest('boto3')(`pages, uploads in parts, signs and deletes ${where}`, async () => {
      const script = join(folder, newName());
      await writeFile(script, botoScript);
      const out = await call(python!, script, endpoint(), newName(), join(source, 'large'));
      const expected = {
        ...{
          created_again: 'BucketAlreadyOwnedByYou',
          v1: 25,
          v2: 25,
          folders: ['d/'],
          metadata: { a: 'b' },
        },
        ...{ signed_get: true, signed_put: 200, absent: 'NoSuchKey', unmet: 'PreconditionFailed' },
        ...{ not_empty: 'BucketNotEmpty', parts: [100, 6], open: 1, made: true, left: 0 },
      };
      expect(JSON.parse(out)).toEqual(expected);
    });
});

const botoScript = `
import boto3, io, json, sys, urllib.request
from botocore.config import Config
from botocore.exceptions import ClientError
endpoint, bucket, large = sys.argv[1:]
s3 = boto3.client('s3', endpoint_url=endpoint, config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}))
def code(work):
    try: work()
    except ClientError as error: return error.response['Error']['Code']
out = {}
s3.create_bucket(Bucket=bucket)
out['created_again'] = code(lambda: s3.create_bucket(Bucket=bucket))
for count in range(25): s3.put_object(Bucket=bucket, Key='d/%03d \\u00fc+%%41' % count, Body=b'x' * count)
def keys(operation):
    pages = s3.get_paginator(operation).paginate(Bucket=bucket, PaginationConfig={'PageSize': 7})
    return len({one['Key'] for page in pages for one in page.get('Contents', [])})
out['v1'], out['v2'] = keys('list_objects'), keys('list_objects_v2')
out['folders'] = [one['Prefix'] for one in s3.list_objects_v2(Bucket=bucket, Delimiter='/')['CommonPrefixes']]
data = open(large, 'rb').read()
s3.upload_file(large, bucket, 'large', ExtraArgs={'Metadata': {'a': 'b'}})
back = io.BytesIO()
s3.download_fileobj(bucket, 'large', back)
assert back.getvalue() == data
head = s3.head_object(Bucket=bucket, Key='large')
out['metadata'] = head['Metadata']
url = s3.generate_presigned_url('get_object', Params={'Bucket': bucket, 'Key': 'large'})
out['signed_get'] = urllib.request.urlopen(url).read() == data
url = s3.generate_presigned_url('put_object', Params={'Bucket': bucket, 'Key': 'up'})
out['signed_put'] = urllib.request.urlopen(urllib.request.Request(url, data=b'up', method='PUT')).status
out['absent'] = code(lambda: s3.get_object(Bucket=bucket, Key='absent'))
out['unmet'] = code(lambda: s3.get_object(Bucket=bucket, Key='up', IfMatch='"x"'))
out['not_empty'] = code(lambda: s3.delete_bucket(Bucket=bucket))
place = {'Bucket': bucket, 'Key': 'made \\u00fc'}
upload = {**place, 'UploadId': s3.create_multipart_upload(**place)['UploadId']}
one = s3.upload_part(**upload, PartNumber=1, Body=b'a' * 100)['ETag']
two = s3.upload_part_copy(**upload, PartNumber=2, CopySource={'Bucket': bucket, 'Key': 'large'}, CopySourceRange='bytes=5-10')
out['parts'] = [part['Size'] for part in s3.list_parts(**upload)['Parts']]
out['open'] = len(s3.list_multipart_uploads(Bucket=bucket)['Uploads'])
named = [{'PartNumber': 1, 'ETag': one}, {'PartNumber': 2, 'ETag': two['CopyPartResult']['ETag']}]
s3.complete_multipart_upload(**upload, MultipartUpload={'Parts': named})
out['made'] = s3.get_object(**place)['Body'].read() == b'a' * 100 + data[5:11]
objects = [{'Key': one['Key']} for one in s3.list_objects_v2(Bucket=bucket)['Contents']]
s3.delete_objects(Bucket=bucket, Delete={'Objects': objects})
out['left'] = s3.list_objects_v2(Bucket=bucket)['KeyCount']
s3.delete_bucket(Bucket=bucket)
print(json.dumps(out))
`;
