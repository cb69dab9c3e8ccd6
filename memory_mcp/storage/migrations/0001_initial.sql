-- The first schema. Text is the truth: `fulltext`, `vec_bits` and `vec_full` can be dropped and rebuilt from `memory`.
-- Instants are integers: milliseconds since 1970, UTC. Enumerated texts list their values in a check.

-- A single-valued fact about the file itself: tokens_version, secret (hex, for the handles of `forget`),
-- active_model (embedding_model.number), erasure (set while an erasure is not yet verified).
create table setting (
    name  text primary key,
    value text not null
) strict, without rowid;

-- Whose memories: 'user' (about the person) or a project. A number, so that vector rows can be filtered cheaply.
create table namespace (
    number integer primary key,
    name   text not null unique
) strict;

-- One conversation, as a host names it, within a namespace.
create table session (
    number             integer primary key,
    namespace          integer not null references namespace (number),
    id                 text not null,
    host               text not null default '',    -- which program captured it; '' when told by a tool
    started_at         integer not null,
    last_at            integer not null,            -- time of the newest turn or summary
    turns              integer not null default 0,  -- the highest sequence given out
    summarized_through integer not null default 0,  -- the sequence of the last turn that a summary covers
    stale              integer not null default 0 check (stale in (0, 1)),  -- its summary lost a source: do it again
    unique (namespace, id)
) strict;

-- One text worth knowing later. A memory is never edited: a correction is a new row, and the old one points to it.
create table memory (
    row           integer primary key autoincrement,  -- never reused: a stale index row must not find a new memory
    id            text not null unique,               -- UUIDv7, the only name users and models see
    namespace     integer not null references namespace (number),
    kind          text not null check (kind in ('fact', 'preference', 'instruction', 'relationship', 'decision',
                      'metric', 'pattern', 'lesson', 'episode', 'turn', 'document')),
    state         text not null default 'active' check (state in ('active', 'superseded', 'archived')),
    content       text not null,
    key           text not null default '',           -- a named slot; one active memory a slot
    title         text not null default '',           -- where a document chunk stands
    speaker       text not null default '',
    session       integer references session (number),
    sequence      integer,                            -- place of a turn within its session, from 1
    pinned        integer not null default 0 check (pinned in (0, 1)),
    importance    real not null check (importance between 0 and 1),   -- how much it matters
    confidence    real not null check (confidence between 0 and 1),   -- 1 said outright, .7 inferred, .4 hearsay
    source        text not null check (source in ('user', 'agent', 'tool', 'import', 'hook')),
    trust         text not null check (trust in ('trusted', 'untrusted')),
    created_at    integer not null,                   -- when it was learned
    updated_at    integer not null,
    valid_from    integer,                            -- when it was true in the world
    valid_to      integer,
    expires_at    integer,                            -- end of its time to live; null: never
    superseded_at integer,                            -- with link 'supersedes': what was held true at an instant
    digest        blob not null,                      -- of the normalised content: only identical text is a duplicate
    tokens        integer not null,                   -- how many tokens `fulltext` holds for it
    embedded_by   integer references embedding_model (number)   -- null: its vectors are still to be made
) strict;

create index memory_by_digest  on memory (namespace, digest);
create index memory_by_time    on memory (namespace, created_at, row);
create index memory_by_expiry  on memory (expires_at) where expires_at is not null;
create index memory_unembedded on memory (row) where embedded_by is null;
create unique index memory_slot on memory (namespace, key) where key <> '' and state = 'active';
create unique index memory_place on memory (session, sequence) where sequence is not null;
create index memory_by_session on memory (session, row) where session is not null;

-- A label of a memory, matched whole; stored casefolded.
create table tag (
    memory integer not null references memory (row) on delete cascade,
    name   text not null,
    primary key (memory, name)
) strict, without rowid;

create index tag_by_name on tag (name, memory);

-- A named relation: `newer` supersedes, is derived from, or is a key fact of (an episode) `older`. History and provenance.
create table link (
    newer    integer not null references memory (row) on delete cascade,
    older    integer not null references memory (row) on delete cascade,
    relation text not null check (relation in ('supersedes', 'derived_from', 'key_fact_of')),
    primary key (newer, relation, older)
) strict, without rowid;

create index link_by_older on link (older, relation, newer);

-- Reinforcement and ratings. Apart from `memory`, so that counting a recall touches no index.
create table usage (
    memory           integer primary key references memory (row) on delete cascade,
    access_count     integer not null default 0,
    last_accessed_at integer,
    useful           integer not null default 0,
    useless          integer not null default 0
) strict;

-- What a memory of kind episode knows beyond its text: one summary of one session.
create table episode (
    memory          integer primary key references memory (row) on delete cascade,
    session         integer not null references session (number),
    version         integer not null,               -- 1 for the first summary of the session
    covered_through integer not null,               -- the last turn it covers; 0 when no turns were kept
    started_at      integer not null,
    ended_at        integer not null,
    trigger         text not null default '',       -- what began or ended it, in the host's words
    outcome         text check (outcome in ('success', 'failure', 'partial')),
    lessons         text not null default '[]',     -- JSON list of texts
    engine          text not null,                  -- host, extractive or a model's name
    unique (session, version)
) strict;

-- One tool use of an episode.
create table action (
    episode      integer not null references episode (memory) on delete cascade,
    position     integer not null,
    tool         text not null,
    input_digest text not null default '',          -- opaque: never the input itself
    ok           integer not null check (ok in (0, 1)),
    duration_ms  integer,
    primary key (episode, position)
) strict, without rowid;

-- Where a captured turn comes from; a message of a host is kept once.
create table turn (
    memory     integer primary key references memory (row) on delete cascade,
    host       text not null,
    session_id text not null,
    message_id text not null,
    role       text not null,
    unique (host, session_id, message_id)
) strict;

-- Where a document chunk comes from: the chunk's place within one version of a file given as reference.
create table document (
    memory   integer primary key references memory (row) on delete cascade,
    origin   text not null,                         -- the file as the person named it
    version  text not null,                         -- digest of the whole file
    position integer not null,
    unique (origin, version, position)
) strict;

-- Coordinates whose content was forgotten and must not be learned again by itself. No text and no digest of it.
create table forgotten (
    host         text not null default '',
    session_id   text not null default '',
    message_id   text not null default '',          -- all three: a captured message
    memory_id    text not null default '',          -- alone: an imported memory
    forgotten_at integer not null,
    primary key (host, session_id, message_id, memory_id)
) strict, without rowid;

-- Which model made a set of vectors. Vectors of different models are never compared.
create table embedding_model (
    number     integer primary key,
    name       text not null,
    checksum   text not null,                       -- sha256 of the weights
    dimension  integer not null,
    ceiling    real not null,                       -- the cosine that counts as full agreement
    created_at integer not null,
    prefix     text not null default '',            -- what the model wants before each stored text
    unique (name, checksum, dimension, prefix)
) strict;

-- One sentence of a memory: sign bits for the scan, and what a search filters by, as integers beside them.
create table vec_bits (
    sentence   integer primary key autoincrement,
    memory     integer not null references memory (row) on delete cascade,
    model      integer not null references embedding_model (number),
    namespace  integer not null,
    kind       integer not null,                    -- position in models.Kind
    state      integer not null,                    -- position in models.State
    trust      integer not null,                    -- position in models.Trust
    created_at integer not null,
    bits       blob not null                        -- dimension / 8 bytes, least significant bit first
) strict;

create index vec_bits_by_memory on vec_bits (memory);

-- The same sentence at full length, for exact scores: int8, scaled by its own largest component.
create table vec_full (
    sentence integer primary key references vec_bits (sentence) on delete cascade,
    vector   blob not null                          -- dimension bytes
) strict;

-- Each memory's own words (key, tags, title, speaker, content) as tokens of tokens.index_tokens. Contentless: the text
-- stands in `memory` alone, and a delete must hand in the same tokens again. Marks (Mn, Mc) belong to words: Hindi, Thai.
create virtual table fulltext using fts5 (
    tokens, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);
insert into fulltext (fulltext, rank) values ('secure-delete', 1);

-- Where each term stands, one row an occurrence; read for the term counts of a question.
create virtual table posting using fts5vocab (fulltext, instance);

-- Size of the collection, for the weight of a term; kept by the two triggers.
create table corpus (
    only     integer primary key check (only = 1),
    memories integer not null,
    tokens   integer not null
) strict;

insert into corpus values (1, 0, 0);

create trigger memory_counted after insert on memory begin
    update corpus set memories = memories + 1, tokens = tokens + new.tokens;
end;

create trigger memory_uncounted after delete on memory begin
    update corpus set memories = memories - 1, tokens = tokens - old.tokens;
end;

create trigger memory_recounted after update of tokens on memory begin
    update corpus set tokens = tokens + new.tokens - old.tokens;
end;

-- Who may do a piece of background work, and until when.
create table lease (
    name       text primary key,
    owner      text not null,
    expires_at integer not null
) strict, without rowid;

-- What was done, by which door. Ids and counts, never content.
create table audit (
    number integer primary key autoincrement,
    at     integer not null,
    verb   text not null,
    door   text not null,                           -- mcp, cli, web, hook or background
    count  integer not null,
    ids    text not null default '[]'               -- JSON list, at most the first 50
) strict;
