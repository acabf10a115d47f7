import type { TestServer } from './server.ts';

/** The values of a server's metrics, by name and labels. */
export async function metricsOf(server: Pick<TestServer, 'request'>): Promise<ReadonlyMap<string, number>> {
  const { text } = await server.request('GET', '/metrics', { token: null });
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
