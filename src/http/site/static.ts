/** Serves the files of the built documentation. */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type Coding, codings, type Files, type SiteFile } from './manifest.ts';

/** Pages load only what this server has. Their search compiles WebAssembly, and code is coloured by style attributes. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Files whose names change with their content. */
const hashed = /^docs\/(_astro|pagefind\/(fragment|index))\/|^interactive\//;

const missing = 'docs/404.html';

/**
 * The path `/docs/errors/` is the file `docs/errors/index.html`, and a path without its last slash is redirected. What is not in the
 * documentation gets its page that says so; requests to other paths pass.
 */
export function staticFiles(folder: string, files: () => Files): RequestHandler {
  return (req, res, next) => {
    const known = files();
    const path = pathOf(req);
    const name = path.endsWith('/') ? `${path}index.html` : path;
    const file = known.get(name);
    const absent = known.get(missing);
    if (req.method !== 'GET' && req.method !== 'HEAD') next();
    else if (file) send({ folder, name, file, status: 200 }, req, res, next);
    else if (known.has(`${path}/index.html`)) res.redirect(308, `/${path}/`);
    else if (absent && path.startsWith('docs/'))
      send({ folder, name: missing, file: absent, status: 404 }, req, res, next);
    else next();
  };
}

/** The path without the slash in front; empty when it is malformed. */
function pathOf({ path }: Request): string {
  try {
    return decodeURIComponent(path).slice(1);
  } catch {
    return '';
  }
}

interface Sent {
  readonly folder: string;
  readonly name: string;
  readonly file: SiteFile;
  readonly status: number;
}

function send({ folder, name, file, status }: Sent, req: Request, res: Response, next: NextFunction): void {
  const coding = file.codings.find((one) => req.acceptsEncodings(one) === one);
  res.status(status).vary('Accept-Encoding');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Content-Security-Policy', policy);
  res.setHeader('Cache-Control', hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache');
  res.setHeader('ETag', tagOf(file, coding));
  res.type(name.slice(name.lastIndexOf('.')));
  if (coding) res.setHeader('Content-Encoding', coding);
  const path = coding ? name + codings[coding] : name;
  const options = { root: folder, cacheControl: false, lastModified: false, acceptRanges: false };
  res.sendFile(path, options, (error?: Error) => {
    // A client that goes away needs no answer.
    if (error && !res.headersSent) next(error);
  });
}

/** Each form of a file has a tag of its own. */
const tagOf = ({ tag }: SiteFile, coding: Coding | undefined): string =>
  `"${coding ? `${tag}-${coding}` : tag}"`;
