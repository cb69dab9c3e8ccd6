-- Sessions that hooks capture and that are summarized later, by whichever process gets to it.

-- When the host said that a session was over. Null: it may go on. Turns that come later make it null again.
alter table session add column ended_at integer;

-- A use of a tool in a session; the newest become the actions of its episode. Of the input only a digest, no output.
create table tool_use (
    session      integer not null references session (number) on delete cascade,
    call_id      text not null,                     -- the host's own name of the call
    at           integer not null,
    tool         text not null,
    input_digest text not null default '',
    ok           integer not null check (ok in (0, 1)),
    duration_ms  integer,
    primary key (session, call_id)
) strict, without rowid;

-- How far a host's own record of a conversation was read.
create table reading (
    host       text not null,
    session_id text not null,                       -- as the host names it
    place      integer not null,                    -- bytes from its start
    mark       blob not null,                       -- digest of what stands just before: it was not rewritten
    primary key (host, session_id)
) strict, without rowid;

-- A session whose summary failed and is tried again later; its next summary, or its next turn, removes this.
create table attempt (
    session   integer primary key references session (number) on delete cascade,
    failures  integer not null,
    failed_at integer not null,
    reason    text not null                         -- in our words: never content
) strict;

-- What summaries by a paid service cost, by the day on which it was spent (YYYY-MM-DD in the person's zone).
create table spending (
    day          text primary key,
    microdollars integer not null
) strict, without rowid;
