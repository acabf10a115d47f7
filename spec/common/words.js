// What every reference says in the same words: the right that an operation needs, and the credentials of the platform.

/** What a caller needs, by the access of the operation. */
export function needed(service, access) {
  switch (access) {
    case 'public':
      return 'Needs no scope.';
    case 'operator':
      return `Needs the scope \`${service}:admin\` in the operator's tenant.`;
    case 'key':
      return 'Needs an API key, whatever its scopes.';
    case 'user':
      return 'Needs a signed-in user, whatever the scopes.';
    case 'any':
      return 'Needs any valid credential, whatever its scopes.';
    default:
      return `Needs the scope \`${service}:${access}\`.`;
  }
}

/** What each credential is, by the name of its scheme. */
export const credentials = {
  BearerAuth: 'The root credential, or the session or access token of a signed-in user.',
  ApiKeyAuth:
    'An API key of the keys service. It belongs to one tenant, and its scopes say what it may do: `<service>:read`, ' +
    '`<service>:write`, `<service>:admin`.',
  BasicAuth: 'The id and the secret of an OAuth client.',
};
