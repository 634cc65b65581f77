/* SPDX-License-Identifier: Apache-2.0 */
/* Typed values by key. Asking for a key that is not in the table is a bug and stops at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/private.h"
#include "config/internal.h"
#include "model/lines.h"

#define SECRET_FILE_MAX 4096

struct value *config_value(const struct config *c, const char *key)
{
	const struct config_key *k = config_key_find(str_of(key));

	MUST(k != NULL);
	return &c->values[config_key_index(k)];
}

static struct value *typed(const struct config *c, const char *key, unsigned types)
{
	struct value *v = config_value(c, key);

	MUST(types & (1u << config_keys[v - c->values].type));
	return v;
}

const char *config_file(const struct config *c)
{
	return c->file;
}

bool config_is_set(const struct config *c, const char *key)
{
	return config_value(c, key)->layer != LAYER_NONE;
}

bool config_is_given(const struct config *c, const char *key)
{
	return config_value(c, key)->layer > LAYER_DEFAULT;
}

const char *config_str(const struct config *c, const char *key)
{
	return typed(c, key,
	    1u << KEY_TEXT | 1u << KEY_NAME | 1u << KEY_PATH | 1u << KEY_ADDRESS | 1u << KEY_STORE |
	        1u << KEY_ENDPOINT | 1u << KEY_BASE_PATH | 1u << KEY_TOKEN | 1u << KEY_ENUM |
	        1u << KEY_MODE)
	    ->text;
}

int64_t config_int(const struct config *c, const char *key)
{
	return typed(c, key, 1u << KEY_INT | 1u << KEY_SIZE | 1u << KEY_MODE)->number;
}

bool config_bool(const struct config *c, const char *key)
{
	return typed(c, key, 1u << KEY_BOOL)->number != 0;
}

int64_t config_duration_ms(const struct config *c, const char *key)
{
	return typed(c, key, 1u << KEY_DURATION)->number;
}

int config_enum(const struct config *c, const char *key)
{
	return (int)typed(c, key, 1u << KEY_ENUM)->number;
}

size_t config_list(const struct config *c, const char *key, const char *const **ret_items)
{
	static const char *const none[] = {NULL};
	struct value *v = typed(c, key, 1u << KEY_LIST | 1u << KEY_ADDRESSES | 1u << KEY_MAP);

	*ret_items = v->list ? (const char *const *)v->list : none;
	return v->n_list;
}

void config_json(const struct config *c, const char *key, struct buf *b)
{
	struct value *v = typed(c, key, 1u << KEY_MAP | 1u << KEY_PLUGINS);
	char *text = v->json ? json_dumps(v->json, JSON_COMPACT) : NULL;

	buf_add_cstr(b, text ? text : "{}");
	free(text);
}

void config_lines(const struct config *c, const char *key, struct buf *b)
{
	const char *const *items;
	size_t n = config_list(c, key, &items);

	for (size_t i = 0; i < n; i++)
		lines_add(b, str_of(items[i]));
}

const char *config_origin(const struct config *c, const char *key)
{
	const char *origin = config_value(c, key)->origin;

	return origin ? origin : "";
}

bool config_differs(const struct config *a, const struct config *b, const char *key)
{
	struct value *x = config_value(a, key), *y = config_value(b, key);

	if ((x->layer == LAYER_NONE) != (y->layer == LAYER_NONE) || x->number != y->number ||
	    x->n_list != y->n_list || !x->json != !y->json)
		return true;
	if (strcmp(x->text ? x->text : "", y->text ? y->text : ""))
		return true;
	for (size_t i = 0; i < x->n_list; i++)
		if (strcmp(x->list[i], y->list[i]))
			return true;
	return x->json && !json_equal(x->json, y->json);
}

struct value *config_secret_file(const struct config *c, const char *key)
{
	struct buf name = {0};
	struct value *v;

	buf_printf(&name, "%s_file", key);
	v = config_value(c, name.p);
	buf_release(&name);
	return v;
}

/* `strict`: a daemon's, whose secrets are other people's too. */
static int read_secret(const char *path, bool strict, struct buf *b, struct problem *ret_problem)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char bytes[SECRET_FILE_MAX + 1];
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
	int err = errno, denied = fd >= 0 && strict ? private_secret(fd, path, ret_problem) : 0;

	if (fd >= 0)
		close(fd);
	if (denied)
		return denied;
	if (n < 0) {
		problem_set(ret_problem, err == ENOENT ? ERR_NOT_FOUND : ERR_IO,
		    "the token file %s cannot be read: %s", path, strerror(err));
		problem_hint(ret_problem, "make one: (umask 077; openssl rand -hex 32 > %s)", path);
		return err == ENOENT ? ERR_NOT_FOUND : ERR_IO;
	}
	while (n > 0 && strchr(" \t\r\n", bytes[n - 1]))
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (bytes[i] <= ' ' || bytes[i] >= 0x7f)
			n = 0;
	if (n <= 0 || n > 512)
		return problem_set(ret_problem, ERR_INVALID,
		    "the token file %s does not hold one token of up to 512 visible characters",
		    path);
	buf_add(b, bytes, (size_t)n);
	explicit_bzero(bytes, sizeof bytes);
	return 0;
}

int config_secret(
    const struct config *c, const char *key, struct buf *ret_secret, struct problem *ret_problem)
{
	struct value *text = typed(c, key, 1u << KEY_TOKEN), *file;

	file = config_secret_file(c, key);
	if (file->layer == LAYER_DEFAULT && !text->layer && access(file->text, R_OK) != 0)
		return 0;
	if (file->layer > text->layer)
		return read_secret(
		    file->text, strcmp(key, "cli.token") != 0, ret_secret, ret_problem);
	if (text->layer)
		buf_add_cstr(ret_secret, text->text);
	return 0;
}

bool config_secret_is_given(const struct config *c, const char *key)
{
	return config_is_given(c, key) || config_secret_file(c, key)->layer > LAYER_DEFAULT;
}
