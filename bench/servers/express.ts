/** The baseline of the runtime: Express 5 with `express.json()` and one constant answer, or with `echo` what it was sent. */
import express from 'express';
import { createServer } from 'node:http';
import { answer } from './answer.ts';
import { listen } from './announce.ts';

const app = express();
const echo = process.argv[2] === 'echo';
app.disable('x-powered-by');
app.use(express.json());
app.post('/*path', (req, res) => {
  res.json(echo ? req.body : answer);
});
listen(createServer(app));
