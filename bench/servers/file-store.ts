/** The minimum that stores a body as a durable file: read, SHA-256, write, fdatasync, rename, sync of the directory. Argument: a folder. */
import { createHash } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { listen } from './announce.ts';

const folder = join(process.argv[2] ?? '', 'bare');
await mkdir(folder);

listen(
  createServer((req, res) => {
    void store(req).then((etag) => res.writeHead(201, { ETag: `"${etag}"`, 'Content-Length': 0 }).end());
  }),
);

async function store(req: IncomingMessage): Promise<string> {
  const path = join(folder, req.url!.slice(1));
  const hash = createHash('sha256');
  const file = await open(`${path}.tmp`, 'wx');
  for await (const chunk of req as AsyncIterable<Buffer>) {
    hash.update(chunk);
    await file.write(chunk);
  }
  await file.datasync();
  await file.close();
  await rename(`${path}.tmp`, path);
  const directory = await open(folder);
  await directory.sync();
  await directory.close();
  return hash.digest('hex');
}
