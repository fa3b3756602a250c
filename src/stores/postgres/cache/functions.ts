/** The steps of the download cache that PostgreSQL carries out as one: each a function, atomic, in one round trip. */

/** What a row of `pages` or `blobs` takes up beside its texts and data, with its places in the indexes. */
const PAGE_BYTES = 300
const BLOB_BYTES = 150

/**
 * Who deletes a blob locks it first and then looks for pages that have it; who puts a page locks its blob first, in a way
 * that others who put may share. So no blob goes while a page with it is on its way. Nobody waits for a blob that
 * another holds: one that stays behind so is met by the next sweep. Sums come last, so that no two wait for each other.
 */
export const FUNCTIONS = `
CREATE FUNCTION @cache_add(p_pages bigint, p_blobs bigint, p_body bigint, p_packed bigint, p_bytes bigint) RETURNS void
LANGUAGE sql AS $$
  UPDATE @cache_sums SET pages = pages + p_pages, blobs = blobs + p_blobs, body_bytes = body_bytes + p_body,
    packed_bytes = packed_bytes + p_packed, bytes = bytes + p_bytes WHERE slot = pg_backend_pid() % 16
$$;

CREATE FUNCTION @cache_drop(p_blobs bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_blob record;
  v_count bigint := 0;
  v_packed bigint := 0;
BEGIN
  FOR v_blob IN SELECT id, upload, packed_bytes FROM @cache_blobs WHERE id = ANY(p_blobs) ORDER BY id
    FOR UPDATE SKIP LOCKED
  LOOP
    IF EXISTS (SELECT 1 FROM @cache_pages WHERE blob = v_blob.id) THEN CONTINUE; END IF;
    IF v_blob.upload IS NOT NULL THEN DELETE FROM @cache_parts WHERE upload = v_blob.upload; END IF;
    DELETE FROM @cache_blobs WHERE id = v_blob.id;
    v_count := v_count + 1;
    v_packed := v_packed + v_blob.packed_bytes;
  END LOOP;
  IF v_count > 0 THEN PERFORM @cache_add(0, -v_count, 0, -v_packed, -v_packed - v_count * ${BLOB_BYTES}); END IF;
END $$;

CREATE FUNCTION @cache_put(p_key bytea, p_url text, p_host text, p_meta text, p_headers text, p_checked float8,
  p_used int, p_body_bytes bigint, p_digest bytea, p_codec int, p_crc bigint, p_packed bigint, p_data bytea,
  p_upload bigint) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  v_blob bigint;
  v_is_new bool := false;
  v_old record;
  v_bytes int := octet_length(p_url) + octet_length(p_meta) + octet_length(p_headers) + ${PAGE_BYTES};
  v_less_body bigint := 0;
  v_less_bytes bigint := 0;
  v_more_pages bigint := 0;
BEGIN
  WHILE p_digest IS NOT NULL LOOP
    SELECT id INTO v_blob FROM @cache_blobs WHERE digest = p_digest FOR KEY SHARE;
    EXIT WHEN FOUND;
    IF p_codec IS NULL THEN RETURN false; END IF;
    IF p_upload IS NOT NULL THEN
      PERFORM 1 FROM @cache_uploads WHERE id = p_upload FOR UPDATE;
      IF NOT FOUND THEN RETURN false; END IF;
    END IF;
    INSERT INTO @cache_blobs(digest, codec, crc, packed_bytes, data, upload)
      VALUES (p_digest, p_codec, p_crc, p_packed, p_data, p_upload) ON CONFLICT (digest) DO NOTHING RETURNING id INTO v_blob;
    IF FOUND THEN
      v_is_new := true;
      DELETE FROM @cache_uploads WHERE id = p_upload;
      EXIT;
    END IF;
  END LOOP;
  IF p_upload IS NOT NULL AND NOT v_is_new THEN
    DELETE FROM @cache_uploads WHERE id = p_upload;
    IF FOUND THEN DELETE FROM @cache_parts WHERE upload = p_upload; END IF;
  END IF;
  LOOP
    SELECT blob, body_bytes, bytes INTO v_old FROM @cache_pages WHERE key = p_key FOR UPDATE;
    IF FOUND THEN
      UPDATE @cache_pages SET url = p_url, host = p_host, meta = p_meta, headers = p_headers, checked_ms = p_checked,
        used_h = p_used, body_bytes = p_body_bytes, digest = p_digest, blob = v_blob, bytes = v_bytes WHERE key = p_key;
      v_less_body := v_old.body_bytes;
      v_less_bytes := v_old.bytes;
      IF v_old.blob IS DISTINCT FROM v_blob AND v_old.blob IS NOT NULL THEN PERFORM @cache_drop(ARRAY[v_old.blob]); END IF;
      EXIT;
    END IF;
    INSERT INTO @cache_pages VALUES (p_key, p_url, p_host, p_meta, p_headers, p_checked, p_used, p_body_bytes, p_digest,
      v_blob, v_bytes) ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN
      v_more_pages := 1;
      EXIT;
    END IF;
  END LOOP;
  PERFORM @cache_add(v_more_pages, v_is_new::int, p_body_bytes - v_less_body, CASE WHEN v_is_new THEN p_packed ELSE 0 END,
    v_bytes - v_less_bytes + CASE WHEN v_is_new THEN p_packed + ${BLOB_BYTES} ELSE 0 END);
  RETURN true;
END $$;

CREATE FUNCTION @cache_remove(p_keys text[], p_checked_before float8, p_used_at_most int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_count bigint;
  v_body bigint;
  v_bytes bigint;
  v_blobs bigint[];
BEGIN
  PERFORM 1 FROM @cache_pages WHERE key = ANY(SELECT decode(k, 'hex') FROM unnest(p_keys) AS k) ORDER BY key FOR UPDATE;
  WITH gone AS (
    DELETE FROM @cache_pages WHERE key = ANY(SELECT decode(k, 'hex') FROM unnest(p_keys) AS k)
      AND (p_checked_before IS NULL OR checked_ms < p_checked_before) AND (p_used_at_most IS NULL OR used_h <= p_used_at_most)
    RETURNING blob, body_bytes, bytes)
  SELECT count(*), coalesce(sum(body_bytes), 0), coalesce(sum(bytes), 0), array_agg(DISTINCT blob)
    FILTER (WHERE blob IS NOT NULL) INTO v_count, v_body, v_bytes, v_blobs FROM gone;
  IF v_count = 0 THEN RETURN 0; END IF;
  IF v_blobs IS NOT NULL THEN PERFORM @cache_drop(v_blobs); END IF;
  PERFORM @cache_add(-v_count, 0, -v_body, 0, -v_bytes);
  RETURN v_count;
END $$;

CREATE FUNCTION @cache_forget(p_key bytea, p_digest bytea, p_crc bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_blob record;
  v_page record;
BEGIN
  SELECT id, upload, packed_bytes INTO v_blob FROM @cache_blobs WHERE digest = p_digest AND crc = p_crc FOR UPDATE;
  IF FOUND THEN
    IF v_blob.upload IS NOT NULL THEN DELETE FROM @cache_parts WHERE upload = v_blob.upload; END IF;
    DELETE FROM @cache_blobs WHERE id = v_blob.id;
    PERFORM @cache_add(0, -1, 0, -v_blob.packed_bytes, -v_blob.packed_bytes - ${BLOB_BYTES});
  END IF;
  DELETE FROM @cache_pages p WHERE p.key = p_key AND p.digest = p_digest
    AND NOT EXISTS (SELECT 1 FROM @cache_blobs b WHERE b.id = p.blob) RETURNING body_bytes, bytes INTO v_page;
  IF FOUND THEN PERFORM @cache_add(-1, 0, -v_page.body_bytes, 0, -v_page.bytes); END IF;
END $$;
`
