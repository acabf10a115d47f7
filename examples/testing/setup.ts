import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { start, stop } from './processes.ts';

/** A server on which a reader follows a page. */
export interface PageServer {
  readonly url: string;
  /** Its data directory. */
  readonly data: string;
  readonly rootToken: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server with all services that the tests of pages share. Each page uses names of its own. */
    pageServer: PageServer;
  }
}

/** Starts one server for all pages. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { server, end } = await startPageServer(['serve']);
  project.provide('pageServer', server);
  return end;
}

/** Starts a server with a data directory of its own, which `end` removes. */
export async function startPageServer(args: string[], databaseUrl?: string) {
  const data = await mkdtemp(join(tmpdir(), 'plinth-pages-'));
  const { url, child } = await start(args, data, databaseUrl);
  const rootToken = (await readFile(join(data, 'root-token'), 'utf8')).trim();
  return {
    server: { url, data, rootToken },
    end: async () => {
      await stop(child);
      await rm(data, { recursive: true });
    },
  };
}
