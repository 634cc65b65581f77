/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of mode "persistent" in C: one process for many tasks, one at a time. Frames go both
 * ways: four bytes of length, big endian, then a JSON object. Build with jansson.
 *
 * This one turns params.text into capitals.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_MAX (4u << 20)

static void send_frame(json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	uint32_t length = htonl((uint32_t)strlen(text));

	fwrite(&length, sizeof length, 1, stdout);
	fputs(text, stdout);
	fflush(stdout);
	free(text);
	json_decref(message);
}

/* NULL when stdin has ended: the worker is leaving, or replaces us. */
static json_t *receive_frame(void)
{
	static char text[FRAME_MAX];
	uint32_t length;

	if (fread(&length, sizeof length, 1, stdin) != 1)
		return NULL;
	length = ntohl(length);
	if (length > sizeof text || fread(text, 1, length, stdin) != length)
		return NULL;
	return json_loadb(text, length, 0, NULL);
}

static json_t *run(json_t *task)
{
	const char *given =
	    json_string_value(json_object_get(json_object_get(task, "params"), "text"));
	json_t *reply;
	char *text;

	if (!given)
		return json_pack(
		    "{s:i, s:s}", "status", 2, "reason", "params.text must be a string");
	text = strdup(given);
	for (char *p = text; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	reply = json_pack("{s:i, s:s}", "status", 1, "stdout", text);
	free(text);
	return reply;
}

int main(void)
{
	json_t *task, *reply;

	send_frame(json_pack("{s:i, s:i}", "reeve", 1, "concurrency", 1));
	while ((task = receive_frame())) {
		reply = run(task);
		/* the id says which task this is, the token which attempt of it */
		json_object_set(reply, "id", json_object_get(task, "id"));
		json_object_set(reply, "token", json_object_get(task, "token"));
		send_frame(reply);
		json_decref(task);
	}
	return 0;
}
