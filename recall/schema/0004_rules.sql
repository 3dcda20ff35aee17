-- The version of the scanning rules that a session's text has passed: what was stored under older ones is scanned again
-- (recall/rescan.py), and masked on its way out until then.
alter table sessions add column rules_version integer not null default 1;
create index sessions_rules_version on sessions (rules_version);

-- Sessions whose user asked not to remember them. Their names are ids that agents made up.
create table forgotten (session text primary key) strict;
