/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as a configuration file, and as the value of every kind of variable. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "config/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stripping keeps every newline and, done twice, changes nothing more. */
static void check_strip(struct str text)
{
	char *once = xmalloc(text.n + 1), *twice = xmalloc(text.n + 1);
	struct problem p = {0};
	int line = 0;

	memcpy(once, text.p, text.n);
	if (text_strip(once, text.n, &line, &p) == 0) {
		for (size_t i = 0; i < text.n; i++)
			MUST((once[i] == '\n') == (text.p[i] == '\n'));
		memcpy(twice, once, text.n);
		MUST(text_strip(twice, text.n, &line, &p) == 0);
		MUST(memcmp(once, twice, text.n) == 0);
	} else {
		MUST(line > 0);
	}
	free(once);
	free(twice);
}

static void load(const struct config_sources *src)
{
	struct buf b = {0};
	struct problem p = {0};
	struct config *c;
	int err = config_load(src, &c, &p);

	MUST((err == 0) == (p.code == 0));
	for (size_t i = 0; i < config_problem_count(c); i++)
		config_problem_write(config_problem_at(c, i), &b);
	if (err == 0)
		for (size_t i = 0; i < config_plugin_count(c); i++)
			MUST(config_plugin_at(c, i)->argv[0] != NULL);
	config_show(c, true, &b);
	config_show_json(c, &b);
	buf_release(&b);
	config_free(c);
}

/* The same bytes as the variable of one key, chosen by the first of them. */
static void load_variable(const uint8_t *data, size_t size)
{
	const char *name = config_keys[data[0] % n_config_keys].env;
	char *value = xstrndup((const char *)data + 1, size - 1);
	char *variable = xasprintf("%s=%s", name, value);
	const char *env[] = {variable, NULL};

	load(&(struct config_sources){.environment = env, .text = STR("{}")});
	free(variable);
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config_sources src = {.text = {size ? (const char *)data : "", size}};

	check_strip(src.text);
	load(&src);
	if (size)
		load_variable(data, size);
	return 0;
}
