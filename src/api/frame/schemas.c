/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes that all sections of the interface use, for /openapi.json (JSON Schema 2020-12). */
#include "api/frame/shapes.h"
#include "api/objects/resource.h"
#include "wire/json/settings.h"

static const struct field problem_shape[] = {
    OTHER("type", 0, "{\"type\":\"string\",\"format\":\"uri\"}"), TEXT("title", 0),
    INT("status", 0), TEXT("detail", 0), TEXT("hint", RARE), TEXT("field", RARE),
    OTHER("errors", RARE, ARRAY(REF("LineError"))), {NULL}};

static const struct field line_error_shape[] = {INT("line", 0), TEXT("type", 0), TEXT("detail", 0),
    TEXT("hint", RARE), TEXT("field", RARE), {NULL}};

#define THROTTLES                                                                                \
	"{\"description\":\"by key: it starts while fewer than so many tasks with this key are " \
	"dispatched\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\","       \
	"\"minimum\":1}}"

static const struct schema schemas[] = {
    {"Id", "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{24}$\"}"},
    {"Time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {"Duration",
        "{\"description\":\"90s, 5m, 2h, PT1H30M, or seconds\",\"type\":[\"string\",\"number\"]}"},
    {"Size",
        "{\"description\":\"512M, 2G, 64K, or bytes\",\"type\":[\"string\",\"integer\",\"null\"]}"},
    {"Need", "{\"description\":\"what is needed of a worker; cpu in cores, memory and disk in "
             "bytes\",\"type\":\"object\",\"properties\":{\"cpu\":{\"type\":\"number\"},"
             "\"memory\":{\"type\":\"integer\"},\"disk\":{\"type\":\"integer\"},"
             "\"target\":{\"type\":\"string\"},\"labels\":" STRINGS ",\"not_labels\":" STRINGS
             ",\"resources\":{\"type\":\"object\",\"additionalProperties\":{\"type\":"
             "\"integer\"}},\"throttles\":" THROTTLES "}}"},
    {"NeedGiven", "{\"description\":\"an object, or a text as memory=8G,cpu=2,gpu=1,label.zone=a\","
                  "\"oneOf\":[{\"type\":\"string\",\"maxLength\":8192},{\"type\":\"object\","
                  "\"additionalProperties\":false,\"properties\":{\"cpu\":{\"type\":[\"number\","
                  "\"string\"]},\"memory\":{\"type\":[\"integer\",\"string\"]},\"disk\":{\"type\":["
                  "\"integer\",\"string\"]},\"target\":{\"type\":\"string\"},\"labels\":" STRINGS
                  ",\"not_labels\":" STRINGS ",\"resources\":{\"type\":\"object\","
                  "\"additionalProperties\":{\"type\":[\"integer\",\"string\"]}},"
                  "\"throttles\":" THROTTLES "}}]}"},
    {"Problem", .fields = problem_shape},
    {"LineError", .fields = line_error_shape},
    {"RunSettings", .fields = run_fields, .shape = SHAPE_SETTINGS,
        .about = "how its processes are run, limited, watched and ended; null: the default"},
    {"RunCheck", .fields = run_check_fields, .shape = SHAPE_SETTINGS,
        .about = "one of command, tcp and http"},
    {"Pause", .fields = pause_fields, .shape = SHAPE_CHANGE},
};

const struct section frame_section = {SECTION_SCHEMAS(schemas)};
