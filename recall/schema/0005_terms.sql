-- The word index without positions, which take most of the room and of the time, and with one column: FTS5 knows no columns
-- without positions. A term that a passage holds 2, 3 or 5 times is indexed once more with a mark for each (recall/lexical.py); the
-- repository is a term too. "ascii" takes each term as it is: they are made by recall/analysis.py.
drop table lexical_terms;
drop table lexical;
create virtual table lexical using fts5(
  terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
insert into lexical (lexical, rank) values ('secure-delete', 1);
create virtual table lexical_terms using fts5vocab(lexical, 'row');

-- Number of terms, repeats included.
alter table passages add column length integer not null default 0;

-- Of all passages: BM25 needs them in every search, and to count a million rows takes longer than the search.
create table totals (passages integer not null, terms integer not null) strict;
insert into totals select count(*), 0 from passages;
create trigger passages_counted after insert on passages begin
  update totals set passages = passages + 1, terms = terms + new.length;
end;
create trigger passages_discounted after delete on passages begin
  update totals set passages = passages - 1, terms = terms - old.length;
end;
create trigger passages_recounted after update of length on passages begin
  update totals set terms = terms - old.length + new.length;
end;

-- What was said in a session, in order, and what of it asks, from the index alone.
drop index passages_session;
create index passages_session on passages (session_id, embeddable, id, asks);
