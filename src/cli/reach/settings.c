/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: flags > environment > file. */
#include "cli/reach/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/reach/server.h"
#include "cli/reach/token.h"

int cli_config(struct cli *c, const struct config **ret_config)
{
	struct config_sources sources;

	*ret_config = c->config;
	if (c->config)
		return 0;
	config_sources_init(&sources, CONFIG_FOR_CLI);
	if (config_load(&sources, &c->config, &c->problem) < 0) {
		config_free(TAKE(c->config));
		if (!c->problem.hint[0])
			problem_hint(&c->problem, "`reeve config check` shows every mistake");
		return c->problem.code;
	}
	*ret_config = c->config;
	return 0;
}

/* "ca-file" → "cli.ca_file" */
static void key_of(const char *option, char out[64])
{
	snprintf(out, 64, "cli.%s", option);
	for (char *at = out; *at; at++)
		if (*at == '-')
			*at = '_';
}

int cli_setting(struct cli *c, const char *option, const char **ret_value)
{
	const struct config *config;
	char key[64];

	*ret_value = options_get(&c->options, option);
	if (*ret_value)
		return 0;
	if (cli_config(c, &config) < 0)
		return c->problem.code;
	key_of(option, key);
	/* A default of the file is what we do anyhow. */
	*ret_value = config_is_given(config, key) ? config_str(config, key) : NULL;
	return 0;
}

int cli_server(struct cli *c, struct buf *ret_url)
{
	const struct config *config;
	const char *given;
	bool own;

	if (cli_setting(c, "server", &given) < 0)
		return c->problem.code;
	if (given)
		return server_normalise(given, ret_url, &c->problem);
	if (cli_config(c, &config) < 0)
		return c->problem.code;
	/* The default places are searched anyhow, and in a better order. */
	own =
	    config_is_given(config, "server.socket") || config_is_given(config, "server.state_dir");
	return server_find(own ? config_str(config, "server.socket") : NULL, ret_url, &c->problem);
}

/*
 * The file's token belongs to the file's server: whoever names another one on the command line
 * must not show it a secret that was not meant for it.
 */
static bool is_files_server(const struct config *config, const char *server)
{
	AUTO(buf_release) struct buf url = {0};
	struct problem none;

	if (!config_is_given(config, "cli.server"))
		return true;
	return server_normalise(config_str(config, "cli.server"), &url, &none) == 0 &&
	       !strcmp(url.p, server);
}

int cli_token(struct cli *c, const char *server, struct buf *ret_token)
{
	const char *token = getenv("REEVE_TOKEN");
	const char *file = options_get(&c->options, "token-file");
	const struct config *config;

	/* A flag beats a variable, also when the variable is the token itself. */
	if (options_given(&c->options, "token-file") || (token && !*token))
		token = NULL;
	if (token || file)
		return token_read(token, file, ret_token, &c->problem);
	if (cli_config(c, &config) < 0)
		return c->problem.code;
	if (is_files_server(config, server) &&
	    config_secret(config, "cli.token", ret_token, &c->problem) < 0)
		return c->problem.code;
	if (!ret_token->n)
		token_find_local(config_str(config, "server.state_dir"), server, ret_token);
	return 0;
}

int cli_certificates(struct cli *c, const char *server, struct client_options *ret_options)
{
	const char *cert, *key;

	if (strncmp(server, "https:", 6))
		return 0;
	if (cli_setting(c, "ca-file", &ret_options->ca_file) < 0 ||
	    cli_setting(c, "cert-file", &cert) < 0 || cli_setting(c, "key-file", &key) < 0)
		return c->problem.code;
	if (!cert != !key) {
		problem_set(&c->problem, ERR_INVALID, "a certificate and its key belong together");
		return problem_hint(&c->problem, "give both --cert-file and --key-file");
	}
	ret_options->cert_file = cert;
	ret_options->key_file = key;
	return 0;
}

int cli_patience(struct cli *c, int64_t *ret_ms)
{
	const struct config *config;

	*ret_ms = -1;
	if (options_get(&c->options, "server-timeout"))
		return options_duration(&c->options, "server-timeout", ret_ms, &c->problem);
	if (cli_config(c, &config) < 0)
		return c->problem.code;
	if (config_is_given(config, "cli.server_timeout"))
		*ret_ms = config_duration_ms(config, "cli.server_timeout");
	return 0;
}
