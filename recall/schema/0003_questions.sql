-- A question is answered by what follows it, so ranking has to know which passages ask (recall/passages.py, asks()).
alter table passages add column asks integer not null default 0;
update passages set asks = 1
where embeddable = 1 and id in (
  select p.id from passages p join messages m on m.id = p.message_id
  where substr(
    rtrim(substr(m.text, p.start_at + 1, p.end_at - p.start_at), char(9, 10, 13, 32) || '"''*_`)]}>”’）】」』》'), -1
  ) in ('?', '？', '吗')
);

-- Passages of a repository in the order of their ids, for a sample spread over all of them (recall/dense.py).
create index passages_repository on passages (repository_id, id) where embeddable = 1;
