import { createServer } from 'node:http';
import { verifyWebhook } from '@plinth/sdk';

const secret = process.env.WEBHOOK_SECRET ?? '';
const port = Number(process.env.RECEIVER_PORT ?? 4400);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    verifyWebhook(Buffer.concat(chunks), request.headers, secret)
      .then(({ event }) => console.log('verified:', event.type, JSON.stringify(event.data)))
      .then(() => response.writeHead(204).end())
      .catch((error: Error) => response.writeHead(400).end(error.message));
  });
});
server.listen(port, '127.0.0.1', () => console.log(`Waiting for webhooks on port ${port}`));
