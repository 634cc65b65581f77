/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs full of cycles, planned twice: by the planner, and by a reference that is slow and
 * obvious (matrices, and "look at all of them until nothing changes"). Both must say the same.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

#define N 9 /* packages: o/a … o/i */
#define JOBS (N * 4)

struct world {
	unsigned kinds[N][N]; /* [user][on] */
	bool touched[N], blocked[N], known[N];
	unsigned rounds;
};

struct reference {
	const struct world *w;
	bool kept[N], left[N];
	bool reach[N][N];      /* among those that are kept, by one edge or more */
	int order[N], n_order; /* components as they are built: their first members */
	int jobs[JOBS], round[JOBS], n_jobs;
	unsigned why[JOBS][JOBS], outside[JOBS][N];
};

static void world_make(struct world *w, struct rng *r)
{
	unsigned edges = (unsigned)rng_below(r, 30);

	memset(w, 0, sizeof *w);
	w->rounds = 1 + (unsigned)rng_below(r, 4);
	for (int i = 0; i < N; i++) {
		w->known[i] = rng_below(r, 10) > 0;
		w->touched[i] = rng_below(r, 3) == 0;
		w->blocked[i] = rng_below(r, 12) == 0;
	}
	while (edges--) {
		int user = (int)rng_below(r, N), on = (int)rng_below(r, N);
		unsigned kind = rng_below(r, 4)   ? DEP_BUILD
		                : rng_below(r, 2) ? DEP_STRONG
		                                  : DEP_RUNTIME;

		/* Runtime edges go to earlier letters, so that they close no loop. */
		if (w->known[user] && (kind != DEP_RUNTIME || on < user))
			w->kinds[user][on] |= kind;
	}
}

static void ref_choose(struct reference *f)
{
	const struct world *w = f->w;
	bool again = true;

	memcpy(f->kept, w->touched, sizeof f->kept);
	while (again) {
		again = false;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				if (w->kinds[i][j] && f->kept[j] && !f->kept[i])
					f->kept[i] = again = true;
	}
	for (int i = 0; i < N; i++)
		f->left[i] = f->kept[i] && w->blocked[i];
	for (again = true; again;) {
		again = false;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				if (w->kinds[i][j] && f->left[j] && !f->left[i])
					f->left[i] = again = true;
	}
	for (int i = 0; i < N; i++)
		f->kept[i] = f->kept[i] && !f->left[i];
}

static void ref_reach(struct reference *f)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			f->reach[i][j] = f->kept[i] && f->kept[j] && f->w->kinds[i][j];
	for (int k = 0; k < N; k++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				f->reach[i][j] |= f->reach[i][k] && f->reach[k][j];
}

static bool together(const struct reference *f, int i, int j)
{
	return i == j || (f->reach[i][j] && f->reach[j][i]);
}

static int first_of(const struct reference *f, int i)
{
	int j = 0;

	while (!f->kept[j] || !together(f, i, j))
		j++;
	return j;
}

static bool is_placed(const struct reference *f, int first)
{
	for (int i = 0; i < f->n_order; i++)
		if (f->order[i] == first)
			return true;
	return false;
}

static bool can_be_placed(const struct reference *f, int c)
{
	if (!f->kept[c] || first_of(f, c) != c || is_placed(f, c))
		return false;
	for (int j = 0; j < N; j++)
		if (f->reach[c][j] && !together(f, c, j) && !is_placed(f, first_of(f, j)))
			return false;
	return true;
}

static void ref_components(struct reference *f)
{
	for (int c = 0; c < N; c++)
		if (can_be_placed(f, c)) {
			f->order[f->n_order++] = c;
			c = -1;
		}
}

static void ref_job(struct reference *f, int package, int round)
{
	int job = f->n_jobs++;

	f->jobs[job] = package;
	f->round[job] = round;
	for (int on = 0; on < N; on++) {
		int latest = job - 1;

		if (!f->w->kinds[package][on])
			continue;
		while (latest >= 0 && f->jobs[latest] != on)
			latest--;
		if (latest >= 0)
			f->why[job][latest] |= f->w->kinds[package][on];
		else
			f->outside[job][on] |= f->w->kinds[package][on];
	}
}

/* The members of a component in a round's order; false: there is none. */
static bool ref_round(const struct reference *f, int c, int *members, int *n)
{
	bool placed[N] = {false};

	*n = 0;
	for (int i = 0; i < N; i++) {
		bool free = f->kept[i] && together(f, c, i) && !placed[i];

		for (int j = 0; j < N && free; j++)
			if (f->w->kinds[i][j] & (DEP_RUNTIME | DEP_STRONG))
				free = !f->kept[j] || !together(f, c, j) || placed[j];
		if (!free)
			continue;
		placed[i] = true;
		members[(*n)++] = i;
		i = -1;
	}
	for (int i = 0; i < N; i++)
		if (f->kept[i] && together(f, c, i) && !placed[i])
			return false;
	return true;
}

static bool ref_jobs(struct reference *f)
{
	for (int i = 0; i < f->n_order; i++) {
		int members[N], n;

		if (!ref_round(f, f->order[i], members, &n))
			return false;
		for (int round = 1; round <= (n > 1 ? (int)f->w->rounds : 1); round++)
			for (int k = 0; k < n; k++)
				ref_job(f, members[k], round);
	}
	return true;
}

/* p(n+1) waits for every user of p(n), except itself. */
static void ref_order(struct reference *f)
{
	unsigned uses[JOBS][JOBS];

	memcpy(uses, f->why, sizeof uses);
	for (int p = 0; p < f->n_jobs; p++)
		for (int next = 0; next < f->n_jobs; next++)
			for (int user = 0; user < f->n_jobs; user++)
				if (f->jobs[next] == f->jobs[p] &&
				    f->round[next] == f->round[p] + 1 && uses[user][p] &&
				    f->jobs[user] != f->jobs[p])
					f->why[next][user] |= WHY_ORDER;
}

static void letters(struct buf *b, unsigned why)
{
	buf_add_char(b, '(');
	for (int i = 0; i < 4; i++)
		if (why >> i & 1)
			buf_add_char(b, "rbso"[i]);
	buf_add_char(b, ')');
}

static char *ref_words(const struct reference *f)
{
	struct buf b = {0};

	for (int j = 0; j < f->n_jobs; j++) {
		const char *before = " < ";

		buf_printf(&b, "o/%c#%d", 'a' + f->jobs[j], f->round[j]);
		for (int k = 0; k < f->n_jobs; k++)
			if (f->why[j][k]) {
				buf_printf(&b, "%so/%c#%d", before, 'a' + f->jobs[k], f->round[k]);
				letters(&b, f->why[j][k]);
				before = " ";
			}
		before = " | ";
		for (int k = 0; k < N; k++)
			if (f->outside[j][k]) {
				buf_printf(&b, "%so/%c", before, 'a' + k);
				letters(&b, f->outside[j][k]);
				before = " ";
			}
		buf_add_char(&b, '\n');
	}
	return buf_take(&b);
}

static void load_world(const struct world *w, struct package_graph *g)
{
	for (int i = N - 1; i >= 0; i--) {
		struct buf b = {0};
		enum upload_result result;
		struct problem p = {0};

		buf_printf(&b, "o/%c/1/1", 'a' + i);
		for (int j = 0; j < N; j++)
			for (int k = 0; k < 3; k++)
				if (w->kinds[i][j] >> k & 1)
					buf_printf(&b, " %c:o/%c", "rbs"[k], 'a' + j);
		if (w->known[i])
			assert_int_equal(add_line(g, b.p, true, &result, &p), 0);
		buf_release(&b);
	}
}

static int plan_world(
    const struct world *w, const struct package_graph *g, struct manifest *m, struct problem *p)
{
	struct buf touched = {0}, blocked = {0};
	int rc;

	buf_add_cstr(&touched, "");
	buf_add_cstr(&blocked, "");
	for (int i = 0; i < N; i++) {
		if (w->touched[i])
			buf_printf(&touched, "%so/%c", touched.n ? "," : "", 'a' + i);
		if (w->blocked[i])
			buf_printf(&blocked, "%so/%c=why", blocked.n ? "," : "", 'a' + i);
	}
	rc = plan_of(g, touched.p ? touched.p : "", blocked.p ? blocked.p : "", w->rounds, m, p);
	buf_release(&touched);
	buf_release(&blocked);
	return rc;
}

/* What holds of every manifest, whatever the reference says. */
static void check_manifest(const struct manifest *m)
{
	for (uint32_t j = 0; j < m->dag.n; j++)
		for (uint32_t e = m->dag.first[j]; e < m->dag.first[j + 1]; e++) {
			assert_true(m->dag.needs[e] < j);
			assert_true(m->dag.why[e] != 0);
			if (e > m->dag.first[j])
				assert_true(m->dag.needs[e] > m->dag.needs[e - 1]);
		}
}

/* Each that is left out is so for a reason that holds, at the end of a way that leads there. */
static void check_left_out(const struct reference *f, const struct manifest *m)
{
	uint32_t n = 0;

	for (int i = 0; i < N; i++)
		n += f->left[i];
	assert_int_equal(m->n_left_out, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct left_out *l = &m->left_out[i];
		int node = m->texts[l->node].p[2] - 'a', through = m->texts[l->through].p[2] - 'a';
		int root = m->texts[l->root].p[2] - 'a';

		assert_true(f->left[node] && f->left[through] && f->w->blocked[root]);
		if (l->through == l->node)
			assert_true(f->w->blocked[node] && l->root == l->node);
		else
			assert_true(f->w->kinds[node][through] && !f->w->blocked[node]);
	}
}

static bool check_world(const struct world *w, uint64_t seed)
{
	struct reference f = {.w = w};
	struct package_graph g = {0};
	struct manifest m = {0};
	struct problem p = {0};
	bool has_order;
	int rc;

	ref_choose(&f);
	ref_reach(&f);
	ref_components(&f);
	has_order = ref_jobs(&f);
	ref_order(&f);
	load_world(w, &g);
	rc = plan_world(w, &g, &m, &p);
	assert_int_equal(rc, has_order ? 0 : ERR_CONFLICT);
	if (has_order) {
		AUTO(free_cstr) char *wanted = ref_words(&f), *words = NULL;

		check_manifest(&m);
		check_left_out(&f, &m);
		m.n_left_out = 0;
		words = manifest_words(&m);
		if (strcmp(words, wanted) != 0)
			fail_msg(
			    "seed %llu:\n%swanted:\n%s", (unsigned long long)seed, words, wanted);
	}
	manifest_release(&m);
	package_graph_release(&g);
	return has_order;
}

static void test_against_the_reference(void **state)
{
	const char *cases = getenv("REEVE_GRAPH_CASES");
	uint64_t n = cases ? strtoull(cases, NULL, 10) : 20000, refused = 0;

	for (uint64_t seed = 1; seed <= n; seed++) {
		struct rng r = {seed};
		struct world w;

		world_make(&w, &r);
		refused += !check_world(&w, seed);
	}
	assert_in_range(refused, n / 200, n / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
