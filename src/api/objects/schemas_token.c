/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON schemas of tokens. */
#include "api/frame/route.h"

#define NAMES "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":16}"
#define LABELS \
	"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},\"maxProperties\":8}"
#define ROLES "{\"enum\":[\"read\",\"logs\",\"submit\",\"operate\",\"admin\",\"join\"]}"
#define TIME "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Time\"},{\"type\":\"null\"}]}"

/* clang-format off */
#define MEMBERS \
	"\"id\":{\"$ref\":\"#/components/schemas/Id\"},\"name\":{\"type\":\"string\"}," \
	"\"role\":{\"oneOf\":[" ROLES ",{\"type\":\"null\"}]}," \
	"\"queues\":" NAMES ",\"labels\":" LABELS "," \
	"\"once\":{\"type\":\"boolean\"},\"zone\":{\"type\":[\"string\",\"null\"]}," \
	"\"created\":{\"$ref\":\"#/components/schemas/Time\"},\"creator\":{\"type\":\"string\"}," \
	"\"expires\":" TIME ",\"expired\":{\"type\":\"boolean\"}," \
	"\"damaged\":{\"type\":\"boolean\"}"
#define NEEDED "\"id\",\"name\",\"role\",\"queues\",\"labels\",\"once\",\"zone\",\"created\",\"creator\"," \
	"\"expires\",\"expired\",\"damaged\""

const struct schema token_schemas[] = {
    {"Token",
	"{\"type\":\"object\",\"properties\":{" MEMBERS "},\"required\":[" NEEDED "]}"},
    {"TokenMade",
	"{\"type\":\"object\",\"properties\":{" MEMBERS ","
	"\"token\":{\"type\":[\"string\",\"null\"],\"description\":\"what its bearer shows; null when "
	"the request was repeated\"}},\"required\":[" NEEDED ",\"token\"]}"},
    {"TokenList",
	"{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\","
	"\"items\":{\"$ref\":\"#/components/schemas/Token\"}},"
	"\"next\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"items\",\"next\"]}"},
    {"TokenCreate",
	"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":128},"
	"\"role\":" ROLES ",\"queues\":" NAMES ",\"labels\":" LABELS ","
	"\"once\":{\"type\":\"boolean\"},\"zone\":{\"type\":[\"string\",\"null\"]},"
	"\"expires\":{\"type\":[\"string\",\"number\",\"null\"],\"description\":\"a time, or so long from now\"}},"
	"\"required\":[\"name\",\"role\"],\"additionalProperties\":false}"},
};
/* clang-format on */
const size_t n_token_schemas = sizeof token_schemas / sizeof token_schemas[0];
