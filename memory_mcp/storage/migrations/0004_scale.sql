-- What keeps a large file quick.

-- A process that searches keeps sign bits and what they are filtered by in memory, and must see what others change.
-- New sentences have higher numbers; this counts what happens to old ones, kept by the two triggers.
alter table corpus add column altered integer not null default 0;

create trigger sentence_altered after update on vec_bits begin
    update corpus set altered = altered + 1;
end;

create trigger sentence_removed after delete on vec_bits begin
    update corpus set altered = altered + 1;
end;

-- How many memories there are of each kind and state, counted without reading them; an expression, so that no search
-- takes it for a way to find memories.
create index memory_counted on memory (kind || '/' || state);
