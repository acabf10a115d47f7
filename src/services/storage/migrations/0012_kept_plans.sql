-- The statements in these functions keep their plans. Those with `unnest` were planned again for each call, which took longer than to run
-- them; a plan that is kept must not be one for the small table that it was made for.
alter function storage.put_objects(text, text, jsonb, jsonb) set plan_cache_mode = force_generic_plan;
alter function storage.put_objects(text, text, jsonb, jsonb) set enable_seqscan = off;
alter function storage.delete_objects(text, text, text[], jsonb, jsonb, jsonb, text[]) set plan_cache_mode = force_generic_plan;
