/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker does with each of its containers, and with records that have none. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/write/json_text.h"
#include "service/file/reconcile_file.h"
#include "service/write/write.h"

/* What is looked at: a container, or what a record says is here. */
struct looked {
	struct str service;
	uint32_t index, number; /* the service's */
	uint64_t id;
	const struct container *container; /* NULL: none */
};

static int by_name(const void *a, const void *b)
{
	const struct looked *x = a, *y = b;
	int c = str_cmp(x->service, y->service);

	if (c)
		return c;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static size_t first_of(const struct reconcile_items *items, uint32_t service, uint32_t index)
{
	size_t low = 0, high = items->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct reconcile_item *m = &items->v[mid];

		if (m->service < service || (m->service == service && m->index < index))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void records_of(const struct reconcile_file *f, const struct looked *l,
    const struct instance *ret_records[N_PRESENCES])
{
	for (size_t i = first_of(&f->records, l->number, l->index);
	     i < f->records.n && f->records.v[i].service == l->number &&
	     f->records.v[i].index == l->index;
	     i++)
		ret_records[f->records.v[i].record.presence] = &f->records.v[i].record;
}

static bool has_container(const struct reconcile_file *f, const struct reconcile_item *r)
{
	for (size_t i = first_of(&f->containers, r->service, r->index);
	     i < f->containers.n && f->containers.v[i].service == r->service &&
	     f->containers.v[i].index == r->index;
	     i++)
		if (f->containers.v[i].id == r->id)
			return true;
	return false;
}

/* An ordinary and another record of one start that is not here are one case. */
static bool is_told_before(const struct reconcile_file *f, size_t n)
{
	const struct reconcile_item *r = &f->records.v[n];

	for (; n > 0; n--) {
		const struct reconcile_item *x = &f->records.v[n - 1];

		if (x->service != r->service || x->index != r->index)
			return false;
		if (x->record.worker == 0 && !has_container(f, x))
			return true;
	}
	return false;
}

static struct looked looked_at(
    const struct reconcile_file *f, const struct reconcile_item *i, const struct container *c)
{
	return (struct looked){f->services.texts[i->service], i->index, i->service, i->id, c};
}

static size_t gather(const struct reconcile_file *f, struct looked *all)
{
	size_t n = 0;

	for (size_t i = 0; i < f->containers.n; i++)
		all[n++] = looked_at(f, &f->containers.v[i], &f->containers.v[i].container);
	for (size_t i = 0; i < f->records.n; i++)
		if (f->records.v[i].record.worker == 0 && !has_container(f, &f->records.v[i]) &&
		    !is_told_before(f, i))
			all[n++] = looked_at(f, &f->records.v[i], NULL);
	if (n)
		qsort(all, n, sizeof *all, by_name);
	return n;
}

static void add_case(const struct reconcile_file *f, const struct looked *l, struct buf *b)
{
	const struct instance *records[N_PRESENCES] = {0};
	struct reconcile_self self = {0, l->id, f->is_drained};
	AUTO(buf_release) struct buf key = {0};
	const struct reconcile_row *row;
	struct reconcile_view v;

	records_of(f, l, records);
	v = reconcile_look(&self, l->container, records);
	row = reconcile_row_of(&v);
	buf_printf(&key, STR_FMT "/%u", STR_ARG(l->service), l->index);
	json_key_text(b, "instance", buf_str(&key));
	if (l->id)
		json_key_i64(b, "id", (int64_t)l->id);
	json_key_text(b, "container", str_of(reconcile_container_names[v.container]));
	json_key_text(b, "record", str_of(reconcile_record_names[v.record]));
	json_key_text(b, "when", str_of(reconcile_when_names[row->when]));
	json_key_text(b, "decision", str_of(reconcile_decision_names[row->decision]));
	json_key_text(b, "does", str_of(reconcile_decision_words[row->decision]));
	json_key_text(b, "reason", str_of(row->reason));
}

void reconcile_file_json(const struct reconcile_file *f, struct buf *b)
{
	struct looked *all = xcalloc(f->containers.n + f->records.n + 1, sizeof *all);
	size_t n = gather(f, all);

	buf_add_char(b, '{');
	json_key_text(b, "worker", f->worker);
	json_key_bool(b, "drained", f->is_drained);
	json_key(b, "cases");
	buf_add_char(b, '[');
	for (size_t i = 0; i < n; i++) {
		json_next(b);
		buf_add_cstr(b, "\n  {");
		add_case(f, &all[i], b);
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]}\n");
	free(all);
}

static void add_names(
    struct buf *b, const char *name, unsigned bits, const char *const *names, unsigned n)
{
	json_key(b, name);
	buf_add_char(b, '[');
	for (unsigned i = 0; i < n; i++)
		if (bits >> i & 1) {
			json_next(b);
			json_text(b, str_of(names[i]));
		}
	buf_add_char(b, ']');
}

void reconcile_table_json(struct buf *b)
{
	buf_add_cstr(b, "{\"rows\":[");
	for (unsigned i = 0; i < reconcile_rows; i++) {
		const struct reconcile_row *r = &reconcile_table[i];

		json_next(b);
		buf_add_cstr(b, "\n  {");
		json_key_text(b, "when", str_of(reconcile_when_names[r->when]));
		add_names(b, "containers", r->containers, reconcile_container_names,
		    N_RECONCILE_CONTAINERS);
		add_names(b, "records", r->records, reconcile_record_names, N_RECONCILE_RECORDS);
		json_key_text(b, "decision", str_of(reconcile_decision_names[r->decision]));
		json_key_text(b, "does", str_of(reconcile_decision_words[r->decision]));
		json_key_text(b, "reason", str_of(r->reason));
		if (r->design)
			json_key_text(b, "design", str_of(r->design));
		buf_add_char(b, '}');
	}
	buf_add_cstr(b, "\n]}\n");
}
