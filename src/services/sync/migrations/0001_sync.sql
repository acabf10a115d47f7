-- A data set: all tables of one tenant and app. Whoever holds its row alone gives arrival stamps, so that stamps follow the commits.
create table sync.datasets (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  -- The latest arrival stamp: milliseconds since 1970 in the upper 47 bits, a counter in the lower 16; 0 while nothing was pushed.
  clock bigint not null default 0,
  -- Names this life of the data set: watermarks of another one are worth nothing.
  epoch text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint datasets_pkey primary key (tenant_id, app_id)
) with (fillfactor = 50);

create table sync.tables (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  tbl text collate "C" not null,
  latest_hlc text collate "C" not null,
  -- Up to which arrival, and which clock reading, deletions may have been forgotten.
  horizon_arrival bigint not null default 0,
  horizon_hlc text collate "C" not null default '',
  constraint tables_pkey primary key (tenant_id, app_id, tbl)
) with (fillfactor = 50);

-- What merging works on: a register (`l`), the totals of a node in a counter (`c`), an add of an element of a set (`s`), the deletion
-- of a record (`t`). The state of a record is the set of its cells.
create table sync.cells (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  tbl text collate "C" not null,
  pk text collate "C" not null,
  field text collate "C" not null,
  kind text collate "C" not null,
  -- Nothing; of `c`: `<node>|<since>`; of `s`: `<hash of the element>|<tag>`.
  sub text collate "C" not null,
  -- When it was written, by the clock of its node; of `s` the add, which is the tag.
  hlc text collate "C" not null,
  -- Canonical JSON of the value or of the element.
  value text collate "C" not null,
  inc bigint not null,
  dec bigint not null,
  -- The latest removal of an add.
  removed text collate "C" not null,
  -- When it last changed here: delivery goes by arrival, merging by `hlc`.
  arrival bigint not null,
  constraint cells_pkey primary key (tenant_id, app_id, tbl, pk, field, kind, sub)
);
create index cells_arrival on sync.cells (tenant_id, app_id, tbl, arrival);
create index cells_forgettable on sync.cells (tenant_id, app_id, arrival) where kind = 't' or removed <> '';
create index cells_oldest_forgettable on sync.cells (arrival) where kind = 't' or removed <> '';

-- The latest deletion of each record. A table of its own has one index only, which every plan takes; a join with `cells` would take
-- that of the arrival while the tables are new and nobody has analysed them.
create table sync.tombstones (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  tbl text collate "C" not null,
  pk text collate "C" not null,
  hlc text collate "C" not null,
  constraint tombstones_pkey primary key (tenant_id, app_id, tbl, pk)
);

create table sync.nodes (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  node_id text collate "C" not null,
  -- The subject that used the id first: `<kind>:<id>`.
  owner text collate "C" not null,
  first_seen_at timestamptz(3) not null default now(),
  last_push_at timestamptz(3),
  last_pull_at timestamptz(3),
  -- When it was last told to begin again.
  resync_at timestamptz(3),
  constraint nodes_pkey primary key (tenant_id, app_id, node_id)
) with (fillfactor = 70);
create index nodes_first_seen on sync.nodes (tenant_id, app_id, first_seen_at desc, node_id desc);

-- Arrival stamps as clock readings of the server.
create function sync.reading(p_stamp bigint, p_epoch text) returns text language sql immutable as $$
  select lpad(to_hex(p_stamp >> 16), 12, '0') || '-' || lpad(to_hex(p_stamp & 65535), 4, '0') || '-@' || p_epoch
$$;

-- Lets the first subject that uses a node id own it, and says so in an event. Returns `held`, `claimed` or `refused`.
create function sync.claim(
  p_tenant text, p_app text, p_node text, p_owner text, p_exempt boolean, p_event text, p_actor text, p_request text
) returns text language plpgsql as $$
declare
  v_owner text;
begin
  loop
    select owner into v_owner from sync.nodes where tenant_id = p_tenant and app_id = p_app and node_id = p_node;
    if found then return case when p_exempt or v_owner = p_owner then 'held' else 'refused' end; end if;
    insert into sync.nodes (tenant_id, app_id, node_id, owner) values (p_tenant, p_app, p_node, p_owner)
    on conflict on constraint nodes_pkey do nothing;
    if not found then continue; end if;
    insert into sync.outbox (tenant_id, id, type, subject, app_id, actor, data, request_id)
    values (
      p_tenant, p_event, 'sync.node.claimed', p_node, p_app, p_actor,
      jsonb_build_object('node_id', p_node, 'owner', p_owner), p_request
    );
    return 'claimed';
  end loop;
end
$$;
