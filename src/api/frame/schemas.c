/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes that all sections of the interface use, for /openapi.json (JSON Schema 2020-12). */
#include "api/frame/shapes.h"
#include "api/objects/resource.h"
#include "wire/json/checks.h"
#include "wire/json/settings.h"

/* A look that may be left away. */
#define LOOK(name, text, schema) \
	OTHER(name, RARE, text, "{\"oneOf\":[" REF(schema) ",{\"type\":\"null\"}]}")

static const struct field run_checks_shape[] = {
    LOOK("startup", "until it passes it is not up; unless given what `check` says", "RunStartup"),
    LOOK("liveness", "then, until it fails; unless given what `check` says", "RunLiveness"),
    LOOK("readiness", "beside that: whether it wants traffic; it ends nothing", "RunReadiness"),
    {NULL}};

static const struct field problem_shape[] = {
    OTHER("type", 0, "which kind of problem; the same for all of its kind",
        "{\"type\":\"string\",\"format\":\"uri\"}"),
    TEXT("title", 0, "its kind in words"), INT("status", 0, "the HTTP status"),
    TEXT("detail", 0, "what was wrong"), TEXT("hint", RARE, "what to do about it"),
    TEXT("field", RARE, "the member that is wrong, with its path"),
    OTHER("errors", RARE, "what was wrong with which line", ARRAY(REF("LineError"))), {NULL}};

static const struct field line_error_shape[] = {INT("line", 0, "of the request, from 1"),
    TEXT("type", 0, "which kind of problem; the same for all of its kind"),
    TEXT("detail", 0, "what was wrong"), TEXT("hint", RARE, "what to do about it"),
    TEXT("field", RARE, "the member that is wrong, with its path"), {NULL}};

#define THROTTLES                                                                                \
	"{\"description\":\"by key: it starts while fewer than so many tasks with this key are " \
	"dispatched\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\","       \
	"\"minimum\":1}}"

/* What can be needed: the types of cores and of what is counted, and what bytes may be. */
#define NEED_PROPERTIES(cores, count, bytes)                                                 \
	"\"properties\":{\"cpu\":{\"description\":\"cores\",\"type\":" cores                 \
	"},\"memory\":{\"description\":\"" bytes "\",\"type\":" count                        \
	"},\"disk\":{\"description\":\"" bytes "\",\"type\":" count                          \
	"},\"target\":{\"description\":\"its "                                               \
	"platform\",\"type\":\"string\"},\"labels\":{\"description\":\"labels that it must " \
	"have\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},\"not_"  \
	"labels\":{\"description\":\"labels that it must not "                               \
	"have\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"        \
	"\"resources\":{\"description\":\"so much of "                                       \
	"each\",\"type\":\"object\",\"additionalProperties\":{\"type\":" count               \
	"}},\"throttles\":" THROTTLES "}"

static const struct schema schemas[] = {
    {"Id", "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{24}$\"}"},
    {"Time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {"Duration",
        "{\"description\":\"90s, 5m, 2h, PT1H30M, or seconds\",\"type\":[\"string\",\"number\"]}"},
    {"Size",
        "{\"description\":\"512M, 2G, 64K, or bytes\",\"type\":[\"string\",\"integer\",\"null\"]}"},
    {"Need",
        "{\"description\":\"what is needed of a worker; cpu in cores, memory and disk in "
        "bytes\",\"type\":\"object\"," NEED_PROPERTIES("\"number\"", "\"integer\"", "bytes") "}"},
    {"NeedGiven",
        "{\"description\":\"an object, or a text as "
        "memory=8G,cpu=2,gpu=1,label.zone=a\",\"oneOf\":[{\"type\":\"string\",\"maxLength\":8192},{"
        "\"type\":\"object\",\"additionalProperties\":false," NEED_PROPERTIES(
            "[\"number\",\"string\"]", "[\"integer\",\"string\"]", "bytes, or 8G") "}]}"},
    {"Problem", .fields = problem_shape},
    {"LineError", .fields = line_error_shape},
    {"RunSettings", .fields = run_fields, .shape = SHAPE_SETTINGS,
        .about = "how its processes are run, limited, watched and ended; null: the default"},
    {"RunCheck", .fields = run_check_fields, .shape = SHAPE_SETTINGS,
        .about = "one of command, tcp and http"},
    {"RunChecks", .fields = run_checks_shape},
    {"RunStartup", .fields = run_startup_fields, .shape = SHAPE_SETTINGS},
    {"RunLiveness", .fields = run_liveness_fields, .shape = SHAPE_SETTINGS},
    {"RunReadiness", .fields = run_readiness_fields, .shape = SHAPE_SETTINGS},
    {"Pause", .fields = pause_fields, .shape = SHAPE_CHANGE},
};

const struct section frame_section = {SECTION_SCHEMAS(schemas)};
