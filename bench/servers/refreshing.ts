/** The limit that one commit sets: Express 5 with `express.json()` and one statement that replaces a hash and keeps the old one. */
import express from 'express';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import postgres from 'postgres';
import { listen } from './announce.ts';

const [url = ''] = process.argv.slice(2);
const sql = postgres(url, { max: 10, onnotice() {} });
const hash = (text: string) => createHash('sha256').update(text).digest();

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/*path', async (req, res) => {
  const { refresh_token } = req.body as { refresh_token: string };
  const [old, next] = [hash(refresh_token), hash(`${refresh_token}+`)];
  const [found] = await sql`
    with spent as (
      insert into bench.spent_refresh (tenant_id, hash, session_id)
      select tenant_id, refresh_hash, id from bench.sessions where tenant_id = 'default' and refresh_hash = ${old}
    )
    update bench.sessions
    set token_hash = ${next}, refresh_hash = ${next}, rotated_at = now(), expires_at = now() + interval '1 hour'
    where tenant_id = 'default' and refresh_hash = ${old}
    returning expires_at`;
  if (found) res.json(found);
  else res.status(401).end();
});
listen(createServer(app));
