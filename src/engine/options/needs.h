/* SPDX-License-Identifier: Apache-2.0 */
/* What options need: the last column of rows, "method = pcd|cd, probes; intervals". Conditions with
 * "; " between them must all hold, of alternatives with ", " between them one. The program asks
 * them of what was typed, the library of what differs from its default. */
#ifndef GBSI_OPTIONS_NEEDS_H
#define GBSI_OPTIONS_NEEDS_H

#include <stdbool.h>

#define GBSI_NEED_SIZE 128

/* Whether an alternative holds. @param values "pcd|cd", that option has one of them; NULL: it is
 * given, or whatever else the name stands for. */
typedef bool gbsi_holds(const void *context, const char *name, const char *values);

/* @param said [GBSI_NEED_SIZE] out: the first condition that does not hold, "--method pcd|cd or
 * --probes". @return whether all hold. */
bool gbsi_needs_hold(const char *needs, gbsi_holds *holds, const void *context, char *said);

/* Whether a value is among the words "a|b". */
bool gbsi_is_among(const char *value, const char *words);

#endif
