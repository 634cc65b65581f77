/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes that all parts of the interface use, for /openapi.json (JSON Schema 2020-12). */
#include "api/frame/shapes.h"
#include "api/objects/resource.h"
#include "wire/settings.h"

static const struct field problem_shape[] = {
    OTHER("type", 0, "{\"type\":\"string\",\"format\":\"uri\"}"), TEXT("title", 0),
    INT("status", 0), TEXT("detail", 0), TEXT("hint", RARE), TEXT("field", RARE),
    OTHER("errors", RARE, ARRAY(REF("LineError"))), {NULL}};

static const struct field line_error_shape[] = {INT("line", 0), TEXT("type", 0), TEXT("detail", 0),
    TEXT("hint", RARE), TEXT("field", RARE), {NULL}};

static const struct schema schemas[] = {
    {"Id", "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{24}$\"}"},
    {"Time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {"Duration",
        "{\"description\":\"90s, 5m, 2h, PT1H30M, or seconds\",\"type\":[\"string\",\"number\"]}"},
    {"Size",
        "{\"description\":\"512M, 2G, 64K, or bytes\",\"type\":[\"string\",\"integer\",\"null\"]}"},
    {"Problem", .fields = problem_shape},
    {"LineError", .fields = line_error_shape},
    {"RunSettings", .fields = run_fields, .shape = SHAPE_SETTINGS,
        .about = "how its processes are run, limited, watched and ended; null: the default"},
    {"RunCheck", .fields = run_check_fields, .shape = SHAPE_SETTINGS,
        .about = "one of command, tcp and http"},
    {"Pause", .fields = pause_fields, .shape = SHAPE_CHANGE},
};

const struct part frame_part = {PART_SCHEMAS(schemas)};
