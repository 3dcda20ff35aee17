-- What a repository is known by wherever it is (recall/identity.py), so that it is found again where it went.
create table signs (
  repository_id integer not null references repositories on delete cascade,
  sign text not null,
  primary key (repository_id, sign)
) strict, without rowid;
create index signs_sign on signs (sign);
insert or ignore into signs
select distinct w.repository_id, remote_sign(s.remote) from sessions s join worktrees w on w.id = s.worktree_id
where s.remote <> '' and w.repository_id <> 0 and remote_sign(s.remote) <> '';

-- What ran at or below `old_path` belongs to what is at or below `new_path`: said by a person ("recall relink").
create table relinks (
  old_key text primary key,          -- of old_path, for comparing
  old_path text not null,
  new_path text not null
) strict;
