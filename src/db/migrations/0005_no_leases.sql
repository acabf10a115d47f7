-- The engine of the background jobs runs the sweeps, under the leases of its processes (`jobs.sweep`).
drop table plinth.leases;
