import type { TestRequest, TestResponse } from './server.ts';

/** Sends one request and reads the whole response. */
export async function send(
  url: string,
  method: string,
  rootToken: string,
  { body, headers = {}, token = rootToken, apiKey, tenant }: TestRequest,
): Promise<TestResponse> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: {
      ...(apiKey !== undefined
        ? { 'x-api-key': apiKey }
        : token !== null
          ? { authorization: `Bearer ${token}` }
          : {}),
      ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : json ? JSON.parse(text) : text,
  };
}
