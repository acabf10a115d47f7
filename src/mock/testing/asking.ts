/** An id that the contract has in its examples. */
export const roleId = 'role_01m7w4n5e0f7drekxj50y51wjg';
export const credentials = { authorization: 'Bearer anything' };
export const json = { ...credentials, 'content-type': 'application/json' };

/** Returns short ways to send requests to a mock, which may start later. */
export function asking(mock: () => { url: string }) {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`${mock().url}${path}`, { headers: credentials, ...init });
  return {
    send,
    post: (path: string, body: unknown) =>
      send(path, { method: 'POST', headers: json, body: JSON.stringify(body) }),
    preferring: (path: string, prefer: string) => send(path, { headers: { ...credentials, prefer } }),
  };
}
