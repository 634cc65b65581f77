/* SPDX-License-Identifier: Apache-2.0 */
/* A template's text as parts. Every error has its line. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/routes/template.h"

struct parsing {
	struct template *t;
	struct str rest; /* of the text */
	uint32_t line;
	bool at_line_start; /* of the rest */
	uint32_t nested;
	struct problem *p;
	/* The tag that is being read. */
	struct str tag;
	uint32_t tag_line;
	char word[256]; /* the token that was read last */
	enum { TOKEN_END, TOKEN_WORD, TOKEN_STRING, TOKEN_NUMBER, TOKEN_SIGN, TOKEN_BAD } token;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct parsing *x, const char *fmt, ...)
{
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	return problem_set(x->p, ERR_INVALID, "line %u of the template: %s", x->tag_line, what);
}

/* --- tokens of a tag --- */

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

static void skip_blanks(struct str *s)
{
	while (s->n && (*s->p == ' ' || *s->p == '\t'))
		s->p++, s->n--;
}

static int token_string(struct parsing *x)
{
	size_t n = 0;

	for (x->tag.p++, x->tag.n--; x->tag.n && *x->tag.p != '"'; x->tag.p++, x->tag.n--) {
		if (*x->tag.p == '\\' && x->tag.n > 1)
			x->tag.p++, x->tag.n--;
		if (n + 1 >= sizeof x->word)
			return wrong(x, "a text in a tag may have %zu bytes", sizeof x->word - 1);
		x->word[n++] = *x->tag.p;
	}
	if (!x->tag.n)
		return wrong(x, "a \" is not closed");
	x->tag.p++, x->tag.n--;
	x->word[n] = 0;
	x->token = TOKEN_STRING;
	return 0;
}

static int token_word(struct parsing *x)
{
	size_t n = 0;

	for (; x->tag.n && is_word_char(*x->tag.p); x->tag.p++, x->tag.n--) {
		if (n + 1 >= sizeof x->word)
			return wrong(x, "a name in a tag may have %zu bytes", sizeof x->word - 1);
		x->word[n++] = *x->tag.p;
	}
	x->word[n] = 0;
	x->token = x->word[strspn(x->word, "0123456789")] ? TOKEN_WORD : TOKEN_NUMBER;
	return 0;
}

static int next_token(struct parsing *x)
{
	skip_blanks(&x->tag);
	x->word[0] = 0;
	x->token = TOKEN_END;
	if (!x->tag.n)
		return 0;
	if (*x->tag.p == '"')
		return token_string(x);
	if (is_word_char(*x->tag.p))
		return token_word(x);
	for (size_t n = 2; n; n--)
		if (x->tag.n >= n &&
		    (n == 2 ? !memcmp(x->tag.p, "==", 2) || !memcmp(x->tag.p, "!=", 2)
		            : *x->tag.p == '|' || *x->tag.p == ',')) {
			memcpy(x->word, x->tag.p, n);
			x->word[n] = 0;
			x->tag.p += n;
			x->tag.n -= n;
			x->token = TOKEN_SIGN;
			return 0;
		}
	return wrong(
	    x, "this cannot be read: %.*s", (int)(x->tag.n < 40 ? x->tag.n : 40), x->tag.p);
}

static bool is_word(const struct parsing *x, const char *word)
{
	return (x->token == TOKEN_WORD || x->token == TOKEN_SIGN) && !strcmp(x->word, word);
}

static int expect_end(struct parsing *x)
{
	return x->token == TOKEN_END ? 0
	                             : wrong(x, "%.60s stands where the tag should end", x->word);
}

/* --- operands and conditions --- */

static int take_literal(struct parsing *x, json_t *literal, struct template_operand *ret)
{
	MUST(literal);
	json_array_append_new(x->t->literals, literal);
	*ret = (struct template_operand){
	    .literal = literal, .text = arena_strdup(&x->t->arena, x->word)};
	return next_token(x);
}

static int take_path(struct parsing *x, struct template_operand *ret)
{
	struct str rest = str_of(arena_strdup(&x->t->arena, x->word)), name;
	struct template_operand o = {.text = arena_strdup(&x->t->arena, x->word)};

	if (!rest.n || rest.p[rest.n - 1] == '.')
		return wrong(x, "%.60s ends with a point", x->word);
	while (rest.n && str_next(&rest, '.', &name)) {
		if (!name.n)
			return wrong(x, "%.60s has two points side by side", x->word);
		if (o.n_names == TEMPLATE_PATH_MAX)
			return wrong(x, "%.60s has more than %d names", x->word, TEMPLATE_PATH_MAX);
		o.names[o.n_names++] = arena_str(&x->t->arena, name).p;
	}
	*ret = o;
	return next_token(x);
}

static int operand(struct parsing *x, struct template_operand *ret)
{
	int64_t n;

	if (x->token == TOKEN_STRING) {
		json_t *text = json_string(x->word);

		return text ? take_literal(x, text, ret) : wrong(x, "a text is not UTF-8");
	}
	if (x->token == TOKEN_NUMBER && str_to_i64(str_of(x->word), 0, INT64_MAX, &n))
		return take_literal(x, json_integer(n), ret);
	if (is_word(x, "true") || is_word(x, "false"))
		return take_literal(x, json_boolean(is_word(x, "true")), ret);
	if (x->token != TOKEN_WORD)
		return wrong(x, "a value is missing");
	return take_path(x, ret);
}

/* What of a list of names it is. */
static int choice(struct parsing *x, const char *what, const char *const *names, size_t from,
    size_t n, unsigned *ret)
{
	for (size_t i = from; i < n; i++)
		if (x->token == TOKEN_WORD && !strcmp(x->word, names[i])) {
			*ret = (unsigned)i;
			return next_token(x);
		}
	return wrong(
	    x, "there is no %s %.60s", what, x->token == TOKEN_END ? "of no name" : x->word);
}

static int term(struct parsing *x, struct template_term *ret)
{
	struct template_term t = {0};
	unsigned test = TEST_NONE;
	int rc = 0;

	if (is_word(x, "not")) {
		t.is_negated = true;
		rc = next_token(x);
	}
	if (rc == 0)
		rc = operand(x, &t.left);
	if (rc == 0 && (is_word(x, "==") || is_word(x, "!="))) {
		t.is_compared = true;
		t.is_unequal = is_word(x, "!=");
		rc = next_token(x);
		if (rc == 0)
			rc = operand(x, &t.right);
	} else if (rc == 0 && is_word(x, "is")) {
		rc = next_token(x);
		if (rc == 0)
			rc = choice(x, "test", template_test_names, 1, N_TEMPLATE_TESTS, &test);
	}
	t.test = (enum template_test)test;
	*ret = t;
	return rc;
}

static int condition(struct parsing *x, struct template_cond **ret)
{
	struct template_cond *c = arena_zalloc(&x->t->arena, sizeof *c);
	int rc = term(x, &c->terms[c->n++]);

	while (rc == 0 && (is_word(x, "and") || is_word(x, "or"))) {
		bool is_or = is_word(x, "or");

		if (c->n > 1 && is_or != c->is_or)
			return wrong(x, "and and or do not stand in one condition; nest two");
		if (c->n == TEMPLATE_TERMS_MAX)
			return wrong(x, "a condition may have %d parts", TEMPLATE_TERMS_MAX);
		c->is_or = is_or;
		rc = next_token(x);
		if (rc == 0)
			rc = term(x, &c->terms[c->n++]);
	}
	*ret = c;
	return rc < 0 ? rc : expect_end(x);
}

/* --- parts --- */

static struct template_part *part_new(struct parsing *x, enum template_kind kind)
{
	struct template_part *part = arena_zalloc(&x->t->arena, sizeof *part);

	part->kind = kind;
	part->line = x->tag_line;
	return part;
}

static int filters(struct parsing *x, struct template_part *part)
{
	unsigned filter = 0;
	int rc = 0;

	while (rc == 0 && is_word(x, "|")) {
		rc = next_token(x);
		if (rc == 0 && is_word(x, "default")) {
			part->has_otherwise = true;
			rc = next_token(x);
			if (rc == 0)
				rc = operand(x, &part->otherwise);
			continue;
		}
		if (rc == 0 && part->filter)
			return wrong(x, "one of id, quote and host, not two");
		if (rc == 0)
			rc = choice(
			    x, "filter", template_filter_names, 1, N_TEMPLATE_FILTERS, &filter);
		if (rc == 0)
			part->filter = (enum template_filter)filter;
	}
	return rc < 0 ? rc : expect_end(x);
}

static int parse_value(struct parsing *x, struct template_part *part)
{
	int rc = operand(x, &part->value);

	return rc < 0 ? rc : filters(x, part);
}

static int parse_target(struct parsing *x, struct template_part *part)
{
	unsigned target = 0;
	int rc = next_token(x);

	if (rc == 0)
		rc = choice(x, "target", template_target_names, 0, N_TEMPLATE_TARGETS, &target);
	part->target = (enum template_target)target;
	return rc < 0 ? rc : expect_end(x);
}

static int loop_name(struct parsing *x, const char **ret_name)
{
	if (x->token != TOKEN_WORD || strchr(x->word, '.') || !strcmp(x->word, "in"))
		return wrong(x, "a loop is {{for NAME in LIST}}");
	*ret_name = arena_strdup(&x->t->arena, x->word);
	return next_token(x);
}

static int parse_for(struct parsing *x, struct template_part *part)
{
	int rc = next_token(x);

	if (rc == 0)
		rc = loop_name(x, &part->name);
	if (rc == 0 && is_word(x, ",")) {
		part->key_name = part->name;
		rc = next_token(x);
		if (rc == 0)
			rc = loop_name(x, &part->name);
	}
	if (rc == 0 && !is_word(x, "in"))
		return wrong(x, "a loop is {{for NAME in LIST}}");
	if (rc == 0)
		rc = next_token(x);
	if (rc == 0)
		rc = operand(x, &part->value);
	return rc < 0 ? rc : expect_end(x);
}

/* --- tags in the text --- */

enum tag { TAG_NONE, TAG_VALUE, TAG_COMMENT, TAG_FOR, TAG_IF, TAG_ELSE, TAG_END, TAG_TARGET };

/* Where the tag ends: }} outside of "…", in the same line. */
static const char *tag_end(struct str s)
{
	bool in_text = false;

	for (size_t i = 0; i + 1 < s.n && s.p[i] != '\n'; i++) {
		if (in_text && s.p[i] == '\\')
			i++;
		else if (s.p[i] == '"')
			in_text = !in_text;
		else if (!in_text && s.p[i] == '}' && s.p[i + 1] == '}')
			return s.p + i;
	}
	return NULL;
}

static enum tag tag_kind(struct parsing *x)
{
	static const struct {
		const char *word;
		enum tag tag;
	} words[] = {{"for", TAG_FOR}, {"if", TAG_IF}, {"else", TAG_ELSE}, {"end", TAG_END},
	    {"target", TAG_TARGET}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is_word(x, words[i].word))
			return words[i].tag;
	return TAG_VALUE;
}

/* A line with one such tag and blanks is no line of the result. */
static void trim_line(struct parsing *x, struct str *before, bool line_began)
{
	size_t blanks = 0, n = 0;

	while (blanks < before->n && strchr(" \t", before->p[before->n - 1 - blanks]))
		blanks++;
	if (blanks < before->n ? before->p[before->n - 1 - blanks] != '\n' : !line_began)
		return;
	while (n < x->rest.n && strchr(" \t\r", x->rest.p[n]) && x->rest.p[n])
		n++;
	if (n < x->rest.n && x->rest.p[n] != '\n')
		return;
	before->n -= blanks;
	n += n < x->rest.n;
	x->line += n && x->rest.p[n - 1] == '\n';
	x->rest.p += n;
	x->rest.n -= n;
	x->at_line_start = true;
}

/* The text before the next tag, and the tag with its first token; *ret_tag TAG_NONE: the end. */
static int next_tag(struct parsing *x, struct str *ret_text, enum tag *ret_tag)
{
	const char *at = x->rest.n ? memmem(x->rest.p, x->rest.n, "{{", 2) : NULL, *end;
	bool line_began = x->at_line_start;
	int rc;

	*ret_text = (struct str){x->rest.p, at ? (size_t)(at - x->rest.p) : x->rest.n};
	for (size_t i = 0; i < ret_text->n; i++)
		x->line += ret_text->p[i] == '\n';
	x->rest.p += ret_text->n;
	x->rest.n -= ret_text->n;
	x->tag_line = x->line;
	*ret_tag = TAG_NONE;
	if (!at)
		return 0;
	x->tag = (struct str){at + 2, x->rest.n - 2};
	if (!(end = x->tag.n && *x->tag.p == '#' ? memmem(x->tag.p, x->tag.n, "}}", 2)
	                                         : tag_end(x->tag)))
		return wrong(x, "a {{ is not closed in its line");
	x->tag.n = (size_t)(end - x->tag.p);
	x->rest.n -= (size_t)(end + 2 - x->rest.p);
	x->rest.p = end + 2;
	x->at_line_start = false;
	for (size_t i = 0; i < x->tag.n; i++)
		x->line += x->tag.p[i] == '\n';
	if (x->tag.n && *x->tag.p == '#') {
		*ret_tag = TAG_COMMENT;
	} else {
		if ((rc = next_token(x)) < 0)
			return rc;
		*ret_tag = tag_kind(x);
	}
	if (*ret_tag != TAG_VALUE)
		trim_line(x, ret_text, line_began);
	return 0;
}

static int parse_body(struct parsing *x, struct template_part **ret_first, enum tag *ret_last);

/* What stands between the tag and its end. */
static int parse_inside(struct parsing *x, struct template_part **ret_first, enum tag *ret_last)
{
	uint32_t begun = x->tag_line;
	int rc;

	if (++x->nested > TEMPLATE_NESTED_MAX)
		return wrong(x, "this is nested more than %d deep", TEMPLATE_NESTED_MAX);
	rc = parse_body(x, ret_first, ret_last);
	x->nested--;
	if (rc == 0 && *ret_last == TAG_NONE) {
		x->tag_line = begun;
		return wrong(x, "this has no {{end}}");
	}
	return rc;
}

/* With "else if" as an if of its own, which has the same end. */
static int parse_if(struct parsing *x, struct template_part *part)
{
	enum tag last = TAG_NONE;
	int rc = next_token(x);

	if (rc == 0)
		rc = condition(x, &part->cond);
	if (rc == 0)
		rc = parse_inside(x, &part->body, &last);
	if (rc < 0 || last == TAG_END)
		return rc;
	if ((rc = next_token(x)) < 0)
		return rc;
	if (is_word(x, "if")) {
		part->not = part_new(x, PART_IF);
		if (++x->nested > TEMPLATE_NESTED_MAX)
			return wrong(x, "this is nested more than %d deep", TEMPLATE_NESTED_MAX);
		rc = parse_if(x, part->not );
		x->nested--;
		return rc;
	}
	if ((rc = expect_end(x)) == 0)
		rc = parse_inside(x, &part->not, &last);
	return rc == 0 && last == TAG_ELSE ? wrong(x, "there is an {{else}} before") : rc;
}

static int parse_loop(struct parsing *x, struct template_part *part)
{
	enum tag last = TAG_NONE;
	int rc = parse_for(x, part);

	if (rc == 0)
		rc = parse_inside(x, &part->body, &last);
	return rc == 0 && last == TAG_ELSE ? wrong(x, "a loop has no {{else}}") : rc;
}

static int parse_part(struct parsing *x, enum tag tag, struct template_part **ret_part)
{
	switch (tag) {
	case TAG_FOR: return parse_loop(x, *ret_part = part_new(x, PART_FOR));
	case TAG_IF: return parse_if(x, *ret_part = part_new(x, PART_IF));
	case TAG_TARGET: return parse_target(x, *ret_part = part_new(x, PART_TARGET));
	case TAG_VALUE: return parse_value(x, *ret_part = part_new(x, PART_VALUE));
	default: *ret_part = NULL; return 0;
	}
}

static struct template_part **add_text(
    struct parsing *x, struct str text, struct template_part **at)
{
	if (!text.n)
		return at;
	*at = part_new(x, PART_TEXT);
	(*at)->text = arena_str(&x->t->arena, text);
	return &(*at)->next;
}

/* Until an else or an end, which the caller takes, or the end of the text. */
static int parse_body(struct parsing *x, struct template_part **ret_first, enum tag *ret_last)
{
	struct template_part **at = ret_first, *part;

	for (;;) {
		struct str text;
		int rc = next_tag(x, &text, ret_last);

		if (rc < 0)
			return rc;
		at = add_text(x, text, at);
		if (*ret_last == TAG_NONE || *ret_last == TAG_ELSE)
			return 0;
		if (*ret_last == TAG_END) {
			rc = next_token(x);
			return rc < 0 ? rc : expect_end(x);
		}
		if ((rc = parse_part(x, *ret_last, &part)) < 0)
			return rc;
		if (part) {
			*at = part;
			at = &part->next;
		}
	}
}

void template_release(struct template *t)
{
	arena_release(&t->arena);
	json_decref(t->literals);
	*t = (struct template){.first = NULL};
}

int template_parse(struct str text, struct template *ret_template, struct problem *p)
{
	struct template t = {.literals = json_array()};
	struct parsing x = {.t = &t, .rest = text, .line = 1, .at_line_start = true, .p = p};
	enum tag last = TAG_NONE;
	int rc;

	if (text.n > TEMPLATE_MAX)
		rc = problem_set(p, ERR_TOO_LARGE, "the template has %zu bytes; it may have %u",
		    text.n, TEMPLATE_MAX);
	else
		rc = parse_body(&x, &t.first, &last);
	if (rc == 0 && last != TAG_NONE)
		rc = wrong(&x, last == TAG_END ? "there is nothing to end" : "this else has no if");
	if (rc < 0)
		template_release(&t);
	else
		*ret_template = t;
	return rc;
}
