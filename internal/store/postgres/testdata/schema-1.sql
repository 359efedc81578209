SELECT pg_catalog.set_config('search_path', '', false);
CREATE TABLE public.audit (
    sequence bigint NOT NULL,
    at bigint,
    actor text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    publisher text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    old_hash text NOT NULL COLLATE pg_catalog."C",
    new_hash text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.audit_sequence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.heads (
    slug text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    CONSTRAINT heads_revision_check CHECK ((revision >= 0))
);
CREATE TABLE public.hosts (
    host text NOT NULL COLLATE pg_catalog."C",
    publisher text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.operations (
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    own boolean NOT NULL
);
CREATE TABLE public.proofs (
    id text NOT NULL COLLATE pg_catalog."C",
    publisher text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    nonce bytea NOT NULL,
    created_at bigint,
    expires_at bigint,
    state text NOT NULL COLLATE pg_catalog."C",
    verified_at bigint,
    valid_until bigint,
    next_check bigint,
    failed_days bigint NOT NULL,
    last_failure bigint,
    evidence bytea,
    CONSTRAINT proofs_nonce_check CHECK ((length(nonce) = 16))
);
CREATE TABLE public.publisher_keys (
    publisher text NOT NULL COLLATE pg_catalog."C",
    kid text NOT NULL COLLATE pg_catalog."C",
    entry bytea NOT NULL,
    created_at bigint,
    retired_at bigint,
    revoked_at bigint
);
CREATE TABLE public.publishers (
    slug text NOT NULL COLLATE pg_catalog."C",
    created_at bigint,
    region text NOT NULL COLLATE pg_catalog."C",
    lifecycle text NOT NULL COLLATE pg_catalog."C",
    suspended boolean NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    profile bytea,
    schema bytea,
    calendar bytea,
    account bytea,
    delegated boolean NOT NULL,
    incomplete boolean NOT NULL,
    quota_records bigint NOT NULL,
    quota_tokens bigint NOT NULL,
    generation bigint NOT NULL,
    content_hash text NOT NULL COLLATE pg_catalog."C",
    changed_at bigint,
    data_updated bigint,
    CONSTRAINT publishers_generation_check CHECK ((generation >= 0))
);
CREATE TABLE public.records (
    publisher text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    leaf bytea NOT NULL,
    updated_at bigint,
    body bytea NOT NULL,
    CONSTRAINT records_leaf_check CHECK ((length(leaf) = 32))
);
CREATE TABLE public.registry_keys (
    kid text NOT NULL COLLATE pg_catalog."C",
    entry bytea NOT NULL,
    installed_at bigint,
    revoked_at bigint
);
CREATE TABLE public.revocations (
    publisher text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    entry bytea NOT NULL,
    CONSTRAINT revocations_position_check CHECK (("position" >= 1))
);
CREATE TABLE public.schema_migrations (
    number bigint NOT NULL,
    name text NOT NULL,
    sum text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.tokens (
    hash bytea NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    publisher text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    scopes bytea NOT NULL,
    parent text NOT NULL COLLATE pg_catalog."C",
    created_at bigint,
    revoked_at bigint,
    CONSTRAINT tokens_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.verifications (
    publisher text NOT NULL COLLATE pg_catalog."C",
    decision text NOT NULL COLLATE pg_catalog."C",
    recorded_by text NOT NULL COLLATE pg_catalog."C",
    recorded_at bigint,
    confirmed_by text NOT NULL COLLATE pg_catalog."C",
    confirmed_at bigint,
    withdrawn_at bigint
);
INSERT INTO public.audit VALUES (1, 1772357400123456, 'registry', 'publish', 'full', 'service/b', 'a', 'b', 'c');
INSERT INTO public.audit VALUES (2, NULL, '', '', '', '', '', '', '');
INSERT INTO public.heads VALUES ('', 1);
INSERT INTO public.heads VALUES ('bare', 0);
INSERT INTO public.heads VALUES ('full', 2);
INSERT INTO public.hosts VALUES ('full.example', 'full');
INSERT INTO public.operations VALUES ('fill', 1796024261843921, false);
INSERT INTO public.proofs VALUES ('p1', 'full', 'full.example', 'dns_txt', '\x30313233343536373839616263646566', 1772357400123456, 1772962200123456, 'proven', 1772357400123456, 1772361000123456, 1772357400123456, 2, 1772357400123456, '\x7b227265736f6c76657273223a327d');
INSERT INTO public.proofs VALUES ('p2', 'full', 'full.example', '', '\x30313233343536373839616263646566', NULL, NULL, 'lapsed', NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO public.publisher_keys VALUES ('full', 'full-01234567', '\x7b226b7479223a224f4b50222c22637276223a2245643235353139222c22616c67223a224564445341222c22757365223a22736967222c226b6964223a2266756c6c2d3031323334353637222c2278223a2241414141222c22785f70726f746f636f6c5f6174746573746174696f6e223a7b227075626c6973686572223a2266756c6c222c226b65795f637265617465645f6174223a22222c2272656769737472795f6b6964223a22222c2272656769737472795f6b6579735f75726c223a22222c22616c67223a224564445341222c22646967657374223a22222c227369676e6174757265223a22222c227369676e65645f6174223a22222c22636f76657273223a5b226b6964222c227075626c6973686572225d7d7d', 1772357400123456, 1772361000123456, 1772364600123456);
INSERT INTO public.publisher_keys VALUES ('full', 'full-00000000', '\x7b226b7479223a224f4b50222c22637276223a2245643235353139222c22616c67223a224564445341222c22757365223a22736967222c226b6964223a2266756c6c2d3030303030303030222c2278223a2241414141227d', NULL, NULL, NULL);
INSERT INTO public.publishers VALUES ('bare', 1772357400123456, 'GB', 'draft', false, '', '\x7b22646973706c61795f6e616d65223a2262617265227d', NULL, NULL, NULL, false, false, 0, 0, 0, '', NULL, NULL);
INSERT INTO public.publishers VALUES ('full', 1772357400123456, 'DE', 'withdrawn', true, 'a complaint, “quoted”', '\x7b226c61746974756465223a312e35307d', '\x7b227479706573223a7b7d7d', '\x7b2264617973223a5b5d7d', '\x7b22656d61696c223a226f776e6572406578616d706c652e636f6d227d', true, true, 7, 8, 2, 'sha256:00', 1772357400123456, 0);
INSERT INTO public.records VALUES ('full', 'service', 'b', '\x736572766963652f622020202020202020202020202020202020202020202020', 1772361000123456, '\x7b226964223a2262222c227072696365223a312e35307d');
INSERT INTO public.records VALUES ('full', 'service', 'ünïcode/ id 😀', '\x736572766963652fc3bc6ec3af636f64652f20696420f09f9880202020202020', NULL, '\x7b226964223a2278227d');
INSERT INTO public.records VALUES ('full', 'product', 'Z', '\x70726f647563742f5a2020202020202020202020202020202020202020202020', 1772361000123456, '\x7b226964223a225a227d');
INSERT INTO public.registry_keys VALUES ('registry-1', '\x7b226b6964223a2272656769737472792d31222c22726f6c65223a227369676e696e67222c226b7479223a224f4b50222c22637276223a2245643235353139222c22616c67223a224564445341222c22757365223a22736967222c2278223a2242424242222c22637265617465645f6174223a22323032362d30332d30315430303a30303a30305a222c226e6f745f6166746572223a22323032372d30332d30315430303a30303a30305a222c22726f6f745f7369676e6174757265223a7b22726f6f745f6b6964223a22726f6f74222c22616c67223a224564445341222c22646967657374223a22222c227369676e6174757265223a22222c227369676e65645f6174223a22222c22636f76657273223a5b226b6964225d7d7d', 1772357400123456, 1772361000123456);
INSERT INTO public.revocations VALUES ('', 1, '\x7b2273636f7065223a227075626c6973686572222c227375626a656374223a2266756c6c222c22726561736f6e223a226672617564222c22637265617465645f6174223a22323032362d30332d30315430303a30303a30305a227d');
INSERT INTO public.revocations VALUES ('full', 1, '\x7b2273636f7065223a22656e74697479222c22656e746974795f6b6579223a22736572766963652f62222c22726561736f6e223a2277726f6e67222c227265766f6b65645f66726f6d223a22323032362d30312d30315430303a30303a30305a222c22637265617465645f6174223a22227d');
INSERT INTO public.revocations VALUES ('full', 2, '\x7b2273636f7065223a22646967657374222c22646967657374223a227368613235363a3131222c22726561736f6e223a22615c753030303062222c22637265617465645f6174223a22227d');
INSERT INTO public.schema_migrations VALUES (0, 'lock', '', 0);
INSERT INTO public.schema_migrations VALUES (1, 'registry', 'c58f44c1a5e96dcbb703dca42118e6cfeaaab7efb6b6c5423d38afdb28006318', 1796024261842572);
INSERT INTO public.tokens VALUES ('\x0100000000000000000000000000000000000000000000000000000000000000', 't1', 'full', 'import', '\x5b22696d706f7274222c226c697665225d', 't0', 1772357400123456, 1772357400123456);
INSERT INTO public.tokens VALUES ('\x0200000000000000000000000000000000000000000000000000000000000000', 't2', '', '', '\x5b5d', '', NULL, NULL);
INSERT INTO public.verifications VALUES ('full', 'd1', 'operator a', 1772357400123456, 'operator b', 1772357400123456, 1772357400123456);
INSERT INTO public.verifications VALUES ('full', 'd0', '', NULL, '', NULL, NULL);
SELECT pg_catalog.setval('public.audit_sequence', 2, true);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.heads
    ADD CONSTRAINT heads_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_pkey PRIMARY KEY (host);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.proofs
    ADD CONSTRAINT proofs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.publisher_keys
    ADD CONSTRAINT publisher_keys_pkey PRIMARY KEY (publisher, kid);
ALTER TABLE ONLY public.publishers
    ADD CONSTRAINT publishers_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (publisher, type, id);
ALTER TABLE ONLY public.registry_keys
    ADD CONSTRAINT registry_keys_pkey PRIMARY KEY (kid);
ALTER TABLE ONLY public.revocations
    ADD CONSTRAINT revocations_pkey PRIMARY KEY (publisher, "position");
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.verifications
    ADD CONSTRAINT verifications_pkey PRIMARY KEY (publisher, decision);
CREATE INDEX audit_by_publisher ON public.audit USING btree (publisher, sequence);
CREATE INDEX hosts_by_publisher ON public.hosts USING btree (publisher);
CREATE INDEX proofs_by_host ON public.proofs USING btree (host);
CREATE INDEX proofs_by_next_check ON public.proofs USING btree (next_check, id);
CREATE INDEX proofs_by_publisher ON public.proofs USING btree (publisher);
CREATE INDEX tokens_by_publisher ON public.tokens USING btree (publisher);
ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.publishers(slug);
ALTER TABLE ONLY public.proofs
    ADD CONSTRAINT proofs_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.publishers(slug);
ALTER TABLE ONLY public.publisher_keys
    ADD CONSTRAINT publisher_keys_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.publishers(slug);
ALTER TABLE ONLY public.publishers
    ADD CONSTRAINT publishers_slug_fkey FOREIGN KEY (slug) REFERENCES public.heads(slug);
ALTER TABLE ONLY public.records
    ADD CONSTRAINT records_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.publishers(slug);
ALTER TABLE ONLY public.revocations
    ADD CONSTRAINT revocations_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.heads(slug);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.heads(slug);
ALTER TABLE ONLY public.verifications
    ADD CONSTRAINT verifications_publisher_fkey FOREIGN KEY (publisher) REFERENCES public.publishers(slug);
