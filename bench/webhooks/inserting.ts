/** A server that accepts events as one would write it by hand: Express 5 with `express.json()`, a validator and one insert. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import postgres from 'postgres';
import { listen } from '../servers/announce.ts';

const [url = ''] = process.argv.slice(2);
const sql = postgres(url, { max: 10, onnotice() {} });
await sql`create table if not exists accepted (id text primary key, type text not null, data json not null)`;

const validate = new Ajv2020().compile<{ type: string; data: object }>({
  type: 'object',
  required: ['type', 'data'],
  properties: { type: { type: 'string', minLength: 1, maxLength: 128 }, data: { type: 'object' } },
});

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/*path', async (req, res) => {
  const sent: unknown = req.body;
  if (!validate(sent)) return void res.status(400).json(validate.errors);
  const { type, data } = sent;
  const id = randomUUID();
  await sql`insert into accepted (id, type, data) values (${id}, ${type}, ${JSON.stringify(data)}::text::json)`;
  res.status(201).json({ id, type, data });
});
listen(createServer(app));
