-- The attempts in flight of an endpoint as they are now. A statement sees the table as it was when it began, so while it waits for its
-- turn at a lane it misses what the claim before it has started; what a volatile function reads is what is committed when it is called.
create function webhooks.in_flight(p_endpoint text) returns integer language plpgsql volatile as $$
begin
  return (select count(*) from webhooks.delivery where endpoint_id = p_endpoint and state = 'delivering');
end
$$;
