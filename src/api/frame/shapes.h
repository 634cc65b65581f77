/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of members that are written by hand: they are only for the document. */
#ifndef API_SHAPES_H
#define API_SHAPES_H

#include "api/frame/route.h"

#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define TYPE(name) "{\"type\":\"" name "\"}"
#define OR_NULL(shape) "{\"oneOf\":[" shape ",{\"type\":\"null\"}]}"
#define ARRAY(shape) "{\"type\":\"array\",\"items\":" shape "}"

#define NONE FIELD_NULL_SHOWN
#define RARE FIELD_RARE
#define INT(name, bits, about) FIELD_FOUND(name, FIELD_I64, bits, about)
#define TEXT(name, bits, about) FIELD_FOUND(name, FIELD_TEXT, bits, about)
#define BOOL(name, bits, about) FIELD_FOUND(name, FIELD_BOOL, bits, about)
#define ID(name, bits, about) FIELD_FOUND(name, FIELD_ID, bits, about)
#define TIME(name, bits, about) FIELD_FOUND(name, FIELD_TIME, bits, about)
#define OTHER(name, bits, about, json) FIELD_FOUND(name, FIELD_OTHER, bits, about, .schema = json)

#endif
