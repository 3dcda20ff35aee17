-- Vectors know all that they depend on: model, revision, prefix and passage size. An empty revision and a null are not
-- known, as of vectors that were made before this was kept, and are not compared.
create table embedders_known (
  id integer primary key,
  name text not null,
  dimension integer not null,
  revision text not null,            -- of the model's files
  prefix text,                       -- what stands before a passage, and before a query
  passage_tokens integer             -- the longest passage that it takes
) strict;
insert into embedders_known select id, name, dimension, '', null, null from embedders;

-- Which passages have a vector; the vectors themselves are in vectors_<embedder id>, made by dense.py.
create table embedded_known (
  embedder_id integer not null references embedders_known,
  passage_id integer not null,
  digest integer,                    -- of the passage's text, so that a text is embedded once; null where not known
  primary key (embedder_id, passage_id)
) strict, without rowid;
insert into embedded_known select embedder_id, passage_id, null from embedded;

drop table embedded;
drop table embedders;
alter table embedders_known rename to embedders;
alter table embedded_known rename to embedded;
create index embedded_digest on embedded (embedder_id, digest) where digest is not null;

-- Vectors are kept in 8 bits a component now (recall/dense.py). Those of before count as another embedder's: they stay
-- until `recall embed` has made all of them anew, and are not searched.
update embedders set name = name || ' in 32 bits';
