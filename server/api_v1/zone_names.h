/* SPDX-License-Identifier: Apache-2.0
 *
 * English names of time zones as java.text.SimpleDateFormat reads them for the pattern letter z ("PST", "Central European Summer Time"), in any case. Each name of Java 17
 * (DateFormatSymbols.getZoneStrings, Locale.US) was parsed by it and its offset written down; those of which it reads a shorter name only are left out ("East Timor Time" is
 * EAST to it). Of abbreviations that several places use it is the first one in its tables. */
#ifndef API_V1_ZONE_NAMES_H
#define API_V1_ZONE_NAMES_H

#include "base/str.h"

/* Length of the longest name that `text` begins with, and its minutes east of GMT; 0: none. */
size_t v1_zone_name(struct str text, int *ret_minutes);

#endif
