-- What was forgotten does not come back by itself, and what may command an assistant waits for a person to look at it.

-- Places whose content was forgotten and is not learned from again by itself. No text, and no digest of it.
create table blocked (
    number       integer primary key autoincrement, -- by which a person lifts it
    what         text not null check (what in ('message', 'memory', 'conclusion')),
    host         text not null default '',          -- of a message that a hook or a file told; '' when told by a tool
    namespace    text not null default '',          -- of a message that a tool told, or of a session
    session_id   text not null default '',
    message_id   text not null default '',          -- the host's name of a message; for a tool's, its place in the session
    memory_id    text not null default '',          -- a memory that no import brings back, or of which nothing is concluded
    asked        integer not null check (asked in (0, 1)),  -- 0: its time was up, and nobody asked
    forgotten_at integer not null,
    unique (what, host, namespace, session_id, message_id, memory_id)
) strict;

insert into blocked (what, host, session_id, message_id, memory_id, asked, forgotten_at)
select case when memory_id = '' then 'message' else 'memory' end, host, session_id, message_id, memory_id, 1, forgotten_at
from forgotten;

drop table forgotten;

-- 1: its text commands the assistant, so that it is shown only where it is asked for; 2: a person has vouched for it.
alter table memory add column flagged integer not null default 0 check (flagged in (0, 1, 2));

-- By which rules all memories were judged stands in `setting`, as orders_version.

-- How much was stored within a minute is looked up at every store.
create index audit_by_time on audit (at);
