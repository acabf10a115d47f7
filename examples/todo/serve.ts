/** Serves the to-do page: `PLINTH_URL=http://127.0.0.1:4000 node examples/todo/serve.ts`. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const { outputFiles } = await build({
  entryPoints: [here('todo.ts')],
  bundle: true,
  format: 'esm',
  write: false,
});
// A key that may only read and write what is synchronized: the page can show it to anybody who opens it.
const config = { url: process.env.PLINTH_URL ?? 'http://127.0.0.1:4000', key: process.env.PLINTH_API_KEY };
const files: Record<string, [type: string, content: string]> = {
  '/': ['text/html', await readFile(here('index.html'), 'utf8')],
  '/todo.js': ['text/javascript', outputFiles[0]!.text],
  '/config.json': ['application/json', JSON.stringify(config)],
};

const server = createServer(({ url = '' }, response) => {
  const [type, content] = files[url] ?? ['text/plain', undefined];
  response.writeHead(content === undefined ? 404 : 200, { 'Content-Type': `${type}; charset=utf-8` });
  response.end(content);
});
const port = Number(process.env.PORT ?? 4500);
server.listen(port, '127.0.0.1', () => {
  const { port: chosen } = server.address() as { port: number };
  console.log(`Open http://127.0.0.1:${chosen} in two windows`);
});
