/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of schedules, for /openapi.json (JSON Schema 2020-12). */
#include "api/frame/route.h"

/* clang-format off */
const struct schema schedule_schemas[] = {
    {"Schedule",
	"{\"type\":\"object\",\"properties\":{\"id\":{\"$ref\":\"#/components/schemas/Id\"},"
	"\"name\":{\"type\":\"string\"},\"state\":{\"enum\":[\"active\",\"paused\","
	"\"finished\"]},\"problem\":{\"type\":[\"string\",\"null\"]},"
	"\"items\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"source\":{\"type\":[\"string\",\"null\"]},\"time_zone\":{\"type\":[\"string\","
	"\"null\"]},\"words\":{\"type\":\"string\"},\"dst\":{\"oneOf\":[{\"type\":\"array\","
	"\"items\":{\"type\":\"string\"}},{\"type\":\"null\"}]},"
	"\"task\":{\"type\":\"object\"},\"overlap\":{\"enum\":[\"allow\",\"skip\",\"queue\","
	"\"replace\"]},\"missed\":{\"enum\":[\"skip\",\"once\",\"all\"]},"
	"\"max_shift_ms\":{\"type\":\"integer\"},\"jitter_ms\":{\"type\":\"integer\"},"
	"\"start\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]},\"end\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]},\"pause\":{\"oneOf\":[{\"type\":\"object\","
	"\"properties\":{\"reason\":{\"type\":[\"string\",\"null\"]},"
	"\"since\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]},"
	"\"until\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]}},\"required\":[\"reason\",\"since\",\"until\"]},"
	"{\"type\":\"null\"}]},\"next\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]},\"next_local\":{\"type\":[\"string\",\"null\"]},"
	"\"last\":{\"oneOf\":[{\"type\":\"object\","
	"\"properties\":{\"tick\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]},\"task\":{\"$ref\":\"#/components/schemas/Id\"}},"
	"\"required\":[\"tick\",\"task\"]},{\"type\":\"null\"}]},"
	"\"live\":{\"type\":\"integer\"},\"fired\":{\"type\":\"integer\"},"
	"\"skipped\":{\"type\":\"integer\"},"
	"\"ctime\":{\"$ref\":\"#/components/schemas/Time\"},"
	"\"mtime\":{\"$ref\":\"#/components/schemas/Time\"},"
	"\"version\":{\"type\":\"integer\"}},\"required\":[\"id\",\"name\",\"state\","
	"\"problem\",\"items\",\"source\",\"time_zone\",\"words\",\"dst\",\"task\","
	"\"overlap\",\"missed\",\"max_shift_ms\",\"jitter_ms\",\"start\",\"end\",\"pause\","
	"\"next\",\"next_local\",\"last\",\"live\",\"fired\",\"skipped\",\"ctime\",\"mtime\","
	"\"version\"]}"},
    {"ScheduleList",
	"{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\","
	"\"items\":{\"$ref\":\"#/components/schemas/Schedule\"}},"
	"\"next\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"items\",\"next\"]}"},
    {"ScheduleCreate",
	"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,"
	"\"maxLength\":128},\"crontab\":{\"type\":\"string\",\"description\":\"30 2 * * *\"},"
	"\"calendar\":{\"type\":\"string\",\"description\":\"Mon *-*-* 02:30\"},"
	"\"items\":{\"description\":\"an item or a list of them: epoch, or minute, hour,"
	" day_of_month … with dst_fixes\",\"type\":[\"object\",\"array\"],\"items\":{\"type\":\"object\"}},"
	"\"time_zone\":{\"type\":[\"string\",\"null\"]},\"dst\":{\"description\":\"vixie,"
	" or one of skip, unskip and one of repeat_use_both, repeat_use_only_early,"
	" repeat_use_only_late\",\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}},"
	"\"task\":{\"$ref\":\"#/components/schemas/TaskSubmit\"},"
	"\"overlap\":{\"enum\":[\"allow\",\"skip\",\"queue\",\"replace\"],"
	"\"default\":\"skip\"},\"missed\":{\"enum\":[\"skip\",\"once\",\"all\"],"
	"\"default\":\"once\"},\"max_shift\":{\"$ref\":\"#/components/schemas/Duration\"},"
	"\"jitter\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Duration\"},"
	"{\"type\":\"null\"}]},\"start\":{\"description\":\"a time, or a duration from now\","
	"\"type\":[\"string\",\"number\",\"null\"]},\"end\":{\"description\":\"a time,"
	" or a duration from now\",\"type\":[\"string\",\"number\",\"null\"]}},"
	"\"required\":[\"name\",\"task\"],\"additionalProperties\":false}"},
    {"ScheduleChange",
	"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,"
	"\"maxLength\":128},\"crontab\":{\"type\":\"string\",\"description\":\"30 2 * * *\"},"
	"\"calendar\":{\"type\":\"string\",\"description\":\"Mon *-*-* 02:30\"},"
	"\"items\":{\"description\":\"an item or a list of them: epoch, or minute, hour,"
	" day_of_month … with dst_fixes\",\"type\":[\"object\",\"array\"],\"items\":{\"type\":\"object\"}},"
	"\"time_zone\":{\"type\":[\"string\",\"null\"]},\"dst\":{\"description\":\"vixie,"
	" or one of skip, unskip and one of repeat_use_both, repeat_use_only_early,"
	" repeat_use_only_late\",\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}},"
	"\"task\":{\"$ref\":\"#/components/schemas/TaskSubmit\"},"
	"\"overlap\":{\"enum\":[\"allow\",\"skip\",\"queue\",\"replace\"],"
	"\"default\":\"skip\"},\"missed\":{\"enum\":[\"skip\",\"once\",\"all\"],"
	"\"default\":\"once\"},\"max_shift\":{\"$ref\":\"#/components/schemas/Duration\"},"
	"\"jitter\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Duration\"},"
	"{\"type\":\"null\"}]},\"start\":{\"description\":\"a time, or a duration from now\","
	"\"type\":[\"string\",\"number\",\"null\"]},\"end\":{\"description\":\"a time,"
	" or a duration from now\",\"type\":[\"string\",\"number\",\"null\"]}},"
	"\"additionalProperties\":false}"},
    {"ScheduleTasks",
	"{\"type\":\"object\","
	"\"properties\":{\"schedule\":{\"$ref\":\"#/components/schemas/Id\"},"
	"\"tasks\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Id\"}}},"
	"\"required\":[\"schedule\",\"tasks\"]}"},
    {"Backfill",
	"{\"type\":\"object\",\"properties\":{\"from\":{\"description\":\"a time,"
	" or a duration ago\",\"type\":[\"string\",\"number\",\"null\"]},"
	"\"to\":{\"description\":\"a time, or a duration ago\",\"type\":[\"string\","
	"\"number\",\"null\"]}},\"required\":[\"from\"],\"additionalProperties\":false}"},
    {"Tick",
	"{\"type\":\"object\","
	"\"properties\":{\"tick\":{\"$ref\":\"#/components/schemas/Time\"},"
	"\"local\":{\"type\":\"string\"},"
	"\"until\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},"
	"{\"type\":\"null\"}]},\"outcome\":{\"enum\":[\"fired\",\"skipped\",\"waiting\","
	"\"manual\",\"backfill\"]},"
	"\"task\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Id\"},{\"type\":\"null\"}]},"
	"\"decided\":{\"$ref\":\"#/components/schemas/Time\"},"
	"\"late_by_ms\":{\"type\":\"integer\"},\"reason\":{\"type\":[\"string\",\"null\"]}},"
	"\"required\":[\"tick\",\"local\",\"until\",\"outcome\",\"task\",\"decided\","
	"\"late_by_ms\",\"reason\"]}"},
    {"TickList",
	"{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\","
	"\"items\":{\"$ref\":\"#/components/schemas/Tick\"}},\"next\":{\"type\":[\"string\","
	"\"null\"]}},\"required\":[\"items\",\"next\"]}"},
    {"Moment",
	"{\"type\":\"object\","
	"\"properties\":{\"utc\":{\"$ref\":\"#/components/schemas/Time\"},"
	"\"local\":{\"type\":\"string\"},\"offset_s\":{\"type\":\"integer\"},"
	"\"abbreviation\":{\"type\":\"string\"}},\"required\":[\"utc\",\"local\","
	"\"offset_s\",\"abbreviation\"]}"},
    {"MomentList",
	"{\"type\":\"object\",\"properties\":{\"time_zone\":{\"type\":[\"string\",\"null\"]},"
	"\"items\":{\"type\":\"array\","
	"\"items\":{\"$ref\":\"#/components/schemas/Moment\"}}},\"required\":[\"time_zone\","
	"\"items\"]}"},
    {"PreviewAsk",
	"{\"type\":\"object\",\"properties\":{\"crontab\":{\"type\":\"string\","
	"\"description\":\"30 2 * * *\"},\"calendar\":{\"type\":\"string\","
	"\"description\":\"Mon *-*-* 02:30\"},"
	"\"items\":{\"description\":\"an item or a list of them: epoch, or minute, hour,"
	" day_of_month … with dst_fixes\",\"type\":[\"object\",\"array\"],\"items\":{\"type\":\"object\"}},"
	"\"time_zone\":{\"type\":[\"string\",\"null\"]},\"dst\":{\"description\":\"vixie,"
	" or one of skip, unskip and one of repeat_use_both, repeat_use_only_early,"
	" repeat_use_only_late\",\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}},"
	"\"from\":{\"description\":\"a time, or a duration from now\",\"type\":[\"string\","
	"\"number\",\"null\"]},\"n\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100,"
	"\"default\":5},\"year\":{\"type\":\"integer\",\"minimum\":1970,\"maximum\":9999}},"
	"\"additionalProperties\":false}"},
    {"Preview",
	"{\"type\":\"object\",\"properties\":{\"words\":{\"type\":\"string\"},"
	"\"source\":{\"type\":[\"string\",\"null\"]},\"time_zone\":{\"type\":[\"string\","
	"\"null\"]},\"items\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"dst\":{\"oneOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"{\"type\":\"null\"}]},\"either_or\":{\"type\":[\"string\",\"null\"]},"
	"\"next\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Moment\"}},"
	"\"daylight_saving\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"properties\":{\"text\":{\"type\":\"string\"},\"trick\":{\"enum\":[\"gap\","
	"\"overlap\"]},\"at\":{\"$ref\":\"#/components/schemas/Moment\"},"
	"\"labels\":{\"type\":\"integer\"},\"runs\":{\"type\":\"array\","
	"\"items\":{\"$ref\":\"#/components/schemas/Moment\"}}},\"required\":[\"text\","
	"\"trick\",\"at\",\"labels\",\"runs\"]}}},\"required\":[\"words\",\"source\","
	"\"time_zone\",\"items\",\"dst\",\"either_or\",\"next\",\"daylight_saving\"]}"},
    {"ScheduleDraft",
	"{\"type\":\"object\",\"description\":\"what a dry run answers\","
	"\"properties\":{\"name\":{\"type\":\"string\"},\"task\":{\"type\":\"object\"},"
	"\"overlap\":{\"enum\":[\"allow\",\"skip\",\"queue\",\"replace\"]},"
	"\"missed\":{\"enum\":[\"skip\",\"once\",\"all\"]},"
	"\"max_shift_ms\":{\"type\":\"integer\"},\"jitter_ms\":{\"type\":\"integer\"},"
	"\"start\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},{\"type\":\"null\"}]},"
	"\"end\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},{\"type\":\"null\"}]},"
	"\"words\":{\"type\":\"string\"},"
	"\"source\":{\"type\":[\"string\",\"null\"]},\"time_zone\":{\"type\":[\"string\","
	"\"null\"]},\"items\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	"\"dst\":{\"oneOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"{\"type\":\"null\"}]},\"either_or\":{\"type\":[\"string\",\"null\"]},"
	"\"next\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Moment\"}},"
	"\"daylight_saving\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"properties\":{\"text\":{\"type\":\"string\"},\"trick\":{\"enum\":[\"gap\","
	"\"overlap\"]},\"at\":{\"$ref\":\"#/components/schemas/Moment\"},"
	"\"labels\":{\"type\":\"integer\"},\"runs\":{\"type\":\"array\","
	"\"items\":{\"$ref\":\"#/components/schemas/Moment\"}}},\"required\":[\"text\","
	"\"trick\",\"at\",\"labels\",\"runs\"]}}},\"required\":[\"name\",\"task\","
	"\"overlap\",\"missed\",\"max_shift_ms\",\"jitter_ms\",\"start\",\"end\",\"words\",\"source\","
	"\"time_zone\",\"items\",\"dst\",\"either_or\",\"next\",\"daylight_saving\"]}"},
    {"ScheduleMade",
	"{\"anyOf\":[{\"$ref\":\"#/components/schemas/Schedule\"},"
	"{\"$ref\":\"#/components/schemas/ScheduleDraft\"}]}"},
};
/* clang-format on */
const size_t n_schedule_schemas = sizeof schedule_schemas / sizeof schedule_schemas[0];
