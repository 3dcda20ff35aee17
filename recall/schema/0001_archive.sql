-- What was said. Primary: agents delete their transcripts (Claude Code after 30 days), this stays.
-- Times are milliseconds since 1970 in UTC; null where the transcript gives none.

create table repositories (
  id integer primary key,
  key text not null unique,          -- canonical path of the git common dir, or of a plain folder
  path text not null                 -- readable path
) strict;

create table worktrees (
  id integer primary key,
  repository_id integer not null references repositories,
  key text not null,                 -- may stand under two repositories: a folder, and what `git init` made of it
  path text not null,
  unique (key, repository_id)
) strict;

-- Sessions whose transcript names no directory: found with scope "everywhere" only.
insert into repositories values (0, '', '');
insert into worktrees values (0, 0, '', '');

create table sessions (
  id integer primary key,
  name text not null unique,         -- the agent's own id
  agent text not null,
  title text not null,
  preview text not null,             -- beginning of the first thing a person said
  cwd text not null,
  worktree_id integer not null references worktrees,
  branch text not null,
  remote text not null,
  started_at integer,
  updated_at integer,
  parent text not null,              -- name of the session whose agent started this one
  forked_from text not null,         -- name of the session whose history this one begins with
  imported integer not null
) strict;
create index sessions_forked_from on sessions (forked_from) where forked_from <> '';
create index sessions_worktree on sessions (worktree_id, started_at);

create table transcripts (
  id integer primary key,
  path text not null unique,
  session_id integer references sessions on delete set null,
  size integer not null,
  modified_ns integer not null,
  head_size integer not null,        -- bytes covered by head_digest
  head_digest blob not null,         -- tells an appended file from a rewritten one
  read_to integer not null,          -- bytes read so far (of the decompressed stream)
  line_count integer not null,
  reader text not null,
  state text not null,               -- the reader's, as JSON
  skipped text not null,             -- lines not understood, by kind, as JSON
  problem text not null              -- why it holds no session; empty where it does
) strict;

create table messages (
  id integer primary key,
  session_id integer not null references sessions on delete cascade,
  number integer not null,           -- 1-based place in the session
  role text not null,
  tool text not null,
  text text not null,                -- redacted; empty for a copy
  files text not null,               -- paths a tool call names, one a line
  said_at integer,
  transcript_id integer references transcripts on delete set null,
  line integer not null,
  key text not null,                 -- the agent's id of the message, or empty
  digest integer not null,           -- of role and text: recognises copies
  occurrence integer not null,       -- 1-based among messages of this session with the same text and no key
  copied_from integer,               -- the session that holds the text, where this is a copy; null where it is none
  worktree_id integer not null references worktrees,
  branch text not null,
  subagent integer not null,
  unique (session_id, number)
) strict;
create unique index messages_once_by_key on messages (session_id, key) where key <> '';
create unique index messages_once_by_text on messages (session_id, digest, occurrence) where key = '';
create index messages_key on messages (key) where key <> '';
create index messages_beginning on messages (digest) where number <= 4;
create index messages_transcript on messages (transcript_id);
