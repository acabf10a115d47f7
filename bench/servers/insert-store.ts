/** The minimum that stores a short body: `node:http` and one committed row. Argument: the database. */
import { createServer, type IncomingMessage } from 'node:http';
import postgres from 'postgres';
import { listen } from './announce.ts';

const [url = ''] = process.argv.slice(2);
const sql = postgres(url, { max: 10, onnotice() {} });
await sql`create table bare_objects (key text primary key, content bytea not null)`;

listen(
  createServer((req, res) => {
    void store(req).then(() => res.writeHead(201, { 'Content-Length': 0 }).end());
  }),
);

async function store(req: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  await sql`insert into bare_objects (key, content) values (${req.url!}, ${Buffer.concat(chunks)})`;
}
