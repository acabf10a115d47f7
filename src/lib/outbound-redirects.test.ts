import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { get, loose, outbound, server } from './testing/outbound.ts';

describe('a redirect that is followed', () => {
  /** A server that redirects `/from` to `target` with `status`, and reports every other request that it gets. */
  const pair = async (status: number, target: (port: number) => string) => {
    const { port } = await server((req, res) => {
      if (req.url === '/from') return void res.writeHead(status, { location: target(port) }).end('moved');
      const { authorization, accept, 'content-type': type } = req.headers;
      const seen = { method: req.method, url: req.url, authorization, accept, type };
      void text(req).then((body) => res.end(JSON.stringify({ ...seen, body })));
    });
    return `http://127.0.0.1:${port}/from`;
  };
  const post = (url: string) =>
    ({
      ...get(url),
      method: 'POST',
      headers: { Authorization: 'Bearer secret', Accept: 'text/plain', 'Content-Type': 'text/plain' },
      body: 'sent',
      redirects: 1,
    }) as const;
  const told = async (url: string) =>
    JSON.parse((await outbound(loose, ['127.0.0.1']).send(post(url))).body.toString()) as object;

  it.each([301, 302, 303])('with status %i is a GET without the body', async (status) => {
    expect(await told(await pair(status, () => '/to'))).toEqual({
      ...{ method: 'GET', url: '/to', body: '' },
      ...{ authorization: 'Bearer secret', accept: 'text/plain' },
    });
  });

  it.each([307, 308])('with status %i is the same request', async (status) => {
    expect(await told(await pair(status, () => '/to#part'))).toEqual({
      ...{ method: 'POST', url: '/to', body: 'sent' },
      ...{ authorization: 'Bearer secret', accept: 'text/plain', type: 'text/plain' },
    });
  });

  it('to another origin carries no credential', async () => {
    const url = await pair(307, (port) => `http://other.example:${port}/to`);
    expect(await told(url)).toEqual({
      ...{ method: 'POST', url: '/to', body: 'sent' },
      ...{ accept: 'text/plain', type: 'text/plain' },
    });
  });

  it.each([
    ['a refused port', 'http://127.0.0.1:25/', 'must not name port 25'],
    ['another scheme', 'file:///etc/passwd', 'must be an https URL'],
    ['a refused network', 'http://10.0.0.1/', 'address not allowed'],
  ])('to %s is refused', async (_, target, message) => {
    const url = await pair(302, () => target);
    const client = outbound({ ...loose, refuseNetworks: ['10.0.0.0/8'] });
    await expect(client.send(post(url))).rejects.toMatchObject({ name: 'TargetRefused', message });
  });

  it('is the answer when it is one too many', async () => {
    const url = await pair(302, () => '/from');
    expect((await outbound(loose).send({ ...get(url), redirects: 3 })).status).toBe(302);
  });

  it('cannot repeat a body that was streamed', async () => {
    const url = await pair(307, () => '/to');
    async function* body() {
      yield Buffer.from('sent');
    }
    await expect(outbound(loose).send({ ...post(url), body: body() })).rejects.toThrow(/streamed/);
  });
});
