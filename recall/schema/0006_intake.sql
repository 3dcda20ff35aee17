-- One index of the agents' ids instead of two: it finds a message by its id in any session, and keeps it once in each.
drop index messages_key;
drop index messages_once_by_key;
create unique index messages_once_by_key on messages (key, session_id) where key <> '';

-- Whether a new transcript is an old one that was moved is asked for each: without this, all of them are looked at.
create index transcripts_head on transcripts (head_digest) where problem = '';
