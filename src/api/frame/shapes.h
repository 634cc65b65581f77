/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of members that are written by hand: they are only for the document. */
#ifndef API_SHAPES_H
#define API_SHAPES_H

#include "api/frame/route.h"

#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define TYPE(name) "{\"type\":\"" name "\"}"
#define TYPE_OR_NULL(name) "{\"type\":[\"" name "\",\"null\"]}"
#define OR_NULL(shape) "{\"oneOf\":[" shape ",{\"type\":\"null\"}]}"
#define ARRAY(shape) "{\"type\":\"array\",\"items\":" shape "}"
#define STRINGS "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"

#define NONE FIELD_NULL_SHOWN
#define RARE FIELD_RARE
#define INT(name, bits) FIELD_FOUND(name, FIELD_I64, bits, NULL)
#define TEXT(name, bits) FIELD_FOUND(name, FIELD_TEXT, bits, NULL)
#define BOOL(name, bits) FIELD_FOUND(name, FIELD_BOOL, bits, NULL)
#define ID(name, bits) FIELD_FOUND(name, FIELD_ID, bits, NULL)
#define TIME(name, bits) FIELD_FOUND(name, FIELD_TIME, bits, NULL)
#define OTHER(name, bits, json) FIELD_FOUND(name, FIELD_OTHER, bits, NULL, .schema = json)

#endif
