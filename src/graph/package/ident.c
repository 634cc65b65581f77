/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/package/ident.h"

#include <string.h>

#include "graph/limits.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_ident_char(char c)
{
	return is_digit(c) || is_letter(c) || (c && strchr("._+~@:-", c));
}

/* Commands are given it as a path, or as an argument. */
static bool means_more(struct str part)
{
	return str_is(part, ".") || str_is(part, "..") || part.p[0] == '-' || part.p[0] == '~';
}

static const char *const part_names[] = {"origin", "name", "version", "release"};

/* Only what is known to be harmless is shown: the place, not the bytes. */
static int check_part(struct str part, int which, struct problem *p)
{
	if (part.n == 0)
		return problem_set(p, ERR_INVALID,
		    "the %s of a package is empty; write origin/name, origin/name/version or "
		    "origin/name/version/release",
		    part_names[which]);
	if (part.n > IDENT_PART_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    "the %s of a package has %zu bytes; it may have %d", part_names[which], part.n,
		    IDENT_PART_MAX);
	if (means_more(part))
		return problem_set(p, ERR_INVALID,
		    "the %s of a package is . or .., or begins with - or ~, which commands would "
		    "take for something else than a name",
		    part_names[which]);
	for (size_t i = 0; i < part.n; i++)
		if (!is_ident_char(part.p[i]))
			return problem_set(p, ERR_INVALID,
			    "the %s of a package has a character that none may have, at its byte "
			    "%zu; there are letters, digits and . _ + ~ @ : -",
			    part_names[which], i + 1);
	return 0;
}

int ident_parse(struct str text, struct ident *ret_ident, struct problem *p)
{
	struct ident id = {0};
	struct str *parts[] = {&id.origin, &id.name, &id.version, &id.release}, part;
	struct str rest = text;
	int n = 0, rc;

	while (text.n && str_next(&rest, '/', &part)) {
		if (n == 4)
			return problem_set(p, ERR_INVALID,
			    "a package has four parts at most: origin/name/version/release");
		if ((rc = check_part(part, n, p)) < 0)
			return rc;
		*parts[n++] = part;
	}
	if (n < 2)
		return problem_set(p, ERR_INVALID,
		    "a package is named origin/name, optionally with /version and /release");
	id.key = (struct str){text.p, id.origin.n + 1 + id.name.n};
	*ret_ident = id;
	return 0;
}

int ident_parse_full(struct str text, struct ident *ret_ident, struct problem *p)
{
	int rc = ident_parse(text, ret_ident, p);

	if (rc == 0 && ret_ident->release.n == 0)
		return problem_set(p, ERR_INVALID,
		    STR_FMT " has no %s; a package is origin/name/version/release",
		    STR_ARG(ret_ident->key), ret_ident->version.n ? "release" : "version");
	return rc;
}

/* In the order in which they weigh: a version that ends is newer than one that goes on with
 * EARLIER. */
enum token_kind { TOKEN_EARLIER, TOKEN_END, TOKEN_LETTERS, TOKEN_MARK, TOKEN_NUMBER };

struct token {
	enum token_kind kind;
	struct str text;
};

static size_t run_of(struct str s, bool (*is)(char))
{
	size_t n = 0;

	while (n < s.n && is(s.p[n]))
		n++;
	return n;
}

static struct token next_token(struct str *rest)
{
	struct token t = {TOKEN_END, {rest->p, 0}};

	if (rest->n == 0)
		return t;
	t.text.n = 1;
	if (is_digit(rest->p[0]))
		t = (struct token){TOKEN_NUMBER, {rest->p, run_of(*rest, is_digit)}};
	else if (is_letter(rest->p[0]))
		t = (struct token){TOKEN_LETTERS, {rest->p, run_of(*rest, is_letter)}};
	else if (rest->p[0] == '~' || (rest->p[0] == '-' && rest->n > 1 && is_letter(rest->p[1])))
		t.kind = TOKEN_EARLIER;
	else
		t.kind = TOKEN_MARK;
	rest->p += t.text.n;
	rest->n -= t.text.n;
	return t;
}

/* Of any length: no number is too long to be compared. */
static int number_cmp(struct str a, struct str b)
{
	while (a.n && a.p[0] == '0')
		a.p++, a.n--;
	while (b.n && b.p[0] == '0')
		b.p++, b.n--;
	if (a.n != b.n)
		return a.n < b.n ? -1 : 1;
	return str_cmp(a, b);
}

static int token_cmp(const struct token *a, const struct token *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == TOKEN_NUMBER)
		return number_cmp(a->text, b->text);
	return a->kind == TOKEN_LETTERS ? str_cmp(a->text, b->text) : 0;
}

int version_cmp(struct str a, struct str b)
{
	struct str rest_a = a, rest_b = b;
	struct token x, y;
	int order;

	do {
		x = next_token(&rest_a);
		y = next_token(&rest_b);
		order = token_cmp(&x, &y);
	} while (order == 0 && x.kind != TOKEN_END);
	return order ? order : str_cmp(a, b);
}

int ident_cmp_age(const struct ident *a, const struct ident *b)
{
	int order = version_cmp(a->version, b->version);

	return order ? order : version_cmp(a->release, b->release);
}
