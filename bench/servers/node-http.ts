/** The minimum of every server: `node:http`, a parsed body, and one constant answer. */
import { createServer } from 'node:http';
import { answer } from './answer.ts';
import { listen } from './announce.ts';
import { readJson, sendJson } from './json.ts';

listen(
  createServer((req, res) => {
    void readJson(req).then(() => sendJson(res, answer));
  }),
);
