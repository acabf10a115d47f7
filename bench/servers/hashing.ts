/** The limit that hashing alone sets: Express 5 with `express.json()`, one argon2id verification per request and the answer. */
import express from 'express';
import { createServer } from 'node:http';
import { createPasswords } from '../../src/services/auth/factors/passwords.ts';
import { listen } from './announce.ts';
import { answer } from './answer.ts';

const [password = '', memoryCost, timeCost, parallelism] = process.argv.slice(2);
const passwords = createPasswords({
  memoryCost: Number(memoryCost),
  timeCost: Number(timeCost),
  parallelism: Number(parallelism),
});
const known = await passwords.hash(password);
const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/*path', async (req, res) => {
  const { password: given } = req.body as { password: string };
  if (await passwords.verify(known, given)) res.json(answer);
  else res.status(401).end();
});
listen(createServer(app));
