-- What was forgotten, by keyed digests only (recall/marks.py), so that no copy of it is taken in again.
create table forgotten_messages (mark integer primary key) strict;

-- What is still to be done after a forget: 'file' to note it beside the database, 'terms' to leave the word index,
-- 'bytes' to leave the write-ahead log.
create table forgetting (step text primary key) strict;

-- A session of which only the prompts are known, from an agent's prompt history (recall/prompts.py).
alter table sessions add column prompts_only integer not null default 0;
create index sessions_prompts_only on sessions (id) where prompts_only = 1;

-- What people said, by its digest: to find other copies of it.
create index messages_said on messages (digest) where role = 'user';
