/** The baseline of a check: Express 5 with a validator of the body and one select by the primary key. Arguments: the database, a key. */
import { Ajv } from 'ajv';
import express from 'express';
import { createServer } from 'node:http';
import { openDatabase } from '../../src/db/index.ts';
import { log } from '../place.ts';
import { listen } from './announce.ts';

const [url = '', tenant = '', id = ''] = process.argv.slice(2);
const { sql } = await openDatabase({ url, dataDir: '', log });
const isCheck = new Ajv().compile<{ feature_key: string }>({
  type: 'object',
  properties: { feature_key: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$' } },
  required: ['feature_key'],
  additionalProperties: false,
});

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/*path', async (req, res) => {
  const body: unknown = req.body;
  if (!isCheck(body)) return void res.status(400).end();
  const [row] =
    await sql`select id, status from billing.subscription where tenant_id = ${tenant} and id = ${id}`;
  res.json({ allowed: row !== undefined, feature: body.feature_key });
});
listen(createServer(app));
