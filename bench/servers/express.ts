/** The baseline of the runtime: Express 5 with `express.json()`. It answers with a constant or, with `echo`, with the request body. */
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
