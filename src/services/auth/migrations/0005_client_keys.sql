-- How a client says who it is: with `private_key_jwt` by keys of its own. And whether its tokens are always bound to a key.
alter table auth.clients
  add column token_endpoint_auth_method text not null default 'client_secret_basic',
  add column jwks jsonb,
  add column jwks_uri text,
  add column dpop_bound_access_tokens boolean not null default false,
  add constraint clients_keys check (jwks is null or jwks_uri is null);
update auth.clients set token_endpoint_auth_method = 'none' where public;
