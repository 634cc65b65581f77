/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects/domain.h"

#include "model/rows/row.h"

bool domain_is_fresh(const struct domain_row *d, int64_t now_ms)
{
	if (d->fresh_until_ms == DOMAIN_FOR_EVER)
		return true;
	return now_ms < d->fresh_until_ms &&
	       (d->ttl_ms == 0 || d->fresh_until_ms - now_ms <= d->ttl_ms);
}

#define D(kind, name, field, flags) COLUMN_OF(domain_row, kind, name, field, flags)
static const struct column domain_columns[] = {
    D(I64, "id", id, 0),
    D(TEXT, "name", name, COLUMN_NAME | COLUMN_SETTABLE),
    D(I64, "ttl_ms", ttl_ms, COLUMN_SETTABLE),
    D(I64, "fresh_until_ms", fresh_until_ms, 0),
    D(I64, "ctime_ms", ctime_ms, 0),
    D(I64, "mtime_ms", mtime_ms, 0),
    D(I64, "version", version, 0),
    COLUMN_SUM_OF("sum", 0),
};

#define F(name, kind, member, bits, text, ...)                 \
	FIELD(name, kind, domain_row, member, .flags = (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
const struct field domain_fields[] = {
    F("id", FIELD_ID, id, FIELD_SHOWN, "its id"),
    F("name", FIELD_OBJECT_NAME, name, FIELD_BOTH | FIELD_NEEDED,
        "its name, which no other domain has"),
    F("ttl", FIELD_DURATION, ttl_ms, FIELD_BOTH | FIELD_NULL,
        "fresh for so long after its owner has said so; null: for ever"),
    FIELD_FOUND("fresh", FIELD_BOOL, 0, "its owner says that the desired set is complete"),
    FIELD_FOUND("fresh_until", FIELD_TIME, FIELD_NULL_SHOWN,
        "until when; null: for ever, or it is not fresh"),
    FIELD_FOUND("services", FIELD_I64, 0, "services that name it"),
    F("ctime", FIELD_TIME, ctime_ms, FIELD_SHOWN, "when it was made"),
    F("mtime", FIELD_TIME, mtime_ms, FIELD_SHOWN, "when it was changed last"),
    F("version", FIELD_I64, version, FIELD_SHOWN, "rises with every change: the ETag"),
    {NULL},
};

/* Not fresh: so nothing is stopped. */
static void quarantine(void *row, const struct quarantine_facts *f)
{
	struct domain_row *d = row;

	*d = (struct domain_row){.id = d->id,
	    .name = f->name,
	    .ttl_ms = 1,
	    .ctime_ms = quarantine_time_ms(f, d->ctime_ms),
	    .mtime_ms = f->now_ms,
	    .version = 1};
}

const struct row_table domain_table = {
    ROW_TABLE(TABLE_DOMAIN, "domain", domain_row, domain_columns),
    .n_key = 1,
    .has_id = true,
    .is_loaded = true,
    .quarantine = quarantine,
    .quarantined = "is not fresh until its owner says so",
};
