-- Derived from the archive: can be rebuilt from it at any time.

create table passages (
  id integer primary key autoincrement,  -- never used again: a vector may outlive its passage for a while
  message_id integer not null references messages on delete cascade,
  session_id integer not null,
  repository_id integer not null,
  worktree_id integer not null,
  role text not null,
  subagent integer not null,
  said_at integer,
  start_at integer not null,         -- [start_at, end_at) of the message's text, in code points
  end_at integer not null,
  embeddable integer not null        -- 1: worth a vector
) strict;
create index passages_embeddable on passages (id) where embeddable = 1;
create index passages_message on passages (message_id);
create index passages_session on passages (session_id, embeddable, id);

-- `scope` holds r<repository id> and s<session id>, so that the scope is part of the match and a busy repository cannot slow down or
-- starve a quiet one; `terms` holds what analysis.terms gives. Contentless: the text stands in messages.
create virtual table lexical using fts5(
  scope, terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
insert into lexical (lexical, rank) values ('secure-delete', 1);
create virtual table lexical_terms using fts5vocab(lexical, 'col');

create table embedders (
  id integer primary key,
  name text not null unique,
  dimension integer not null
) strict;

-- Which passages have a vector; the vectors themselves are in vectors_<embedder id>, made by dense.py.
create table embedded (
  embedder_id integer not null references embedders,
  passage_id integer not null,
  primary key (embedder_id, passage_id)
) strict, without rowid;
