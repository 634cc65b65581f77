/* SPDX-License-Identifier: Apache-2.0 */
/* service rollout: what a deploy would do, step by step. */
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/service/service.h"
#include "service/file/rollout_file.h"

static char *after_words(const struct cli *c, const json_t *step)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(time_human_ms(ji(step, "after_ms", 0), text));
}

/* "stop web/0, create web/1" */
static char *done_words(const struct cli *c, const json_t *step)
{
	const json_t *actions = json_object_get(step, "actions"), *a;
	struct buf b = {0};
	size_t i;

	if (jhas(step, "event"))
		buf_printf(&b, "(%s)", js(step, "event"));
	if (jhas(step, "refused"))
		buf_printf(&b, " refused: %s", js(step, "refused"));
	json_array_foreach(actions, i, a)
	    buf_printf(&b, "%s%s %s", i ? ", " : "", js(a, "action"), js(a, "instance"));
	return buf_take(&b);
}

static const struct heading columns[] = {
    {"AFTER", HEADING_RIGHT, {.words = after_words}},
    {"AT", HEADING_WIDE, {SHOWN_TEXT, "at"}},
    {"STATE", 0, {SHOWN_TEXT, "state"}},
    {"READY", HEADING_RIGHT, {SHOWN_NUMBER, "ready"}},
    {"HEALTHY", HEADING_RIGHT, {SHOWN_NUMBER, "healthy"}},
    {"STARTS", HEADING_RIGHT, {SHOWN_NUMBER, "starts"}},
    {"DONE", 0, {.words = done_words}},
    {"WHY", HEADING_STRETCH, {SHOWN_TEXT, "why"}},
};

static const struct offline_view view = {"steps", columns, N_OF(columns), "nothing happens"};

static void show_end(struct cli *c, const json_t *answer)
{
	const json_t *end = json_object_get(answer, "end");
	char text[TIME_TEXT_MAX];

	say(stdout, "%s on revision %lld after %s; at least %lld ready, at most %lld starts%s",
	    js(end, "state"), (long long)ji(end, "target", 0),
	    time_human_ms(ji(end, "took_ms", 0), text), (long long)ji(end, "least_ready", 0),
	    (long long)ji(end, "most_starts", 0), jb(end, "ended") ? "" : "; not ended");
}

int cmd_service_rollout(struct cli *c)
{
	AUTO(buf_release) struct buf text = {0}, json = {0};
	AUTO(rollout_file_release) struct rollout_file file = {0};
	int rc = offline_read(c, &text);

	if (rc == 0)
		rc = rollout_file_read(buf_str(&text), &file, &c->problem);
	if (rc < 0)
		return rc;
	rollout_file_play(&file, &json);
	return offline_print(c, buf_str(&json), &view, show_end);
}
