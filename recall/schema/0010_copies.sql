-- Which sessions hold copies of a session's messages: it cannot go before they do (recall/retention.py).
create index messages_copied_from on messages (copied_from) where copied_from is not null;
