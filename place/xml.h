/* SPDX-License-Identifier: Apache-2.0
 *
 * A pull reader over a small XML text, for S3's answers and Hadoop's *-site.xml: names of elements and text, one after the other. Attributes, comments, declarations and processing
 * instructions are passed over. No entities but the five of XML and characters by number, no DTD, so nothing can refer to anything or grow; no memory of its own, linear in the text.
 * A library of everything XML can do (libxml2) is what such answers need least. */
#ifndef PLACE_XML_H
#define PLACE_XML_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

#define XML_DEPTH_MAX 64

enum xml_event { XML_FAILED = -1, XML_END, XML_OPEN, XML_CLOSE, XML_TEXT };

struct xml {
    const char *p, *end;
    struct str name; /* of the element that opened or closed, without prefix; borrowed */
    struct str raw;  /* the text, with references as they stand; borrowed */
    int depth;
    bool closes_itself; /* <a/>: its end comes next */
};

void xml_init(struct xml *self, struct str text); /* text: borrowed */
/* XML_FAILED sticks: not well formed, or deeper than XML_DEPTH_MAX. XML_END: all elements are closed. */
enum xml_event xml_next(struct xml *self);
/* Appends the present text with references replaced. -1: a reference that is none, or `out` failed. */
int xml_text(const struct xml *self, struct buf *out);
struct str xml_trim(struct str text); /* without blanks around */

#endif
