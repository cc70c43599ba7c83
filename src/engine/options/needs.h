/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions under which an option applies, such as "method = pcd|cd, probes; no intervals".
 * They are the last column of the option's row. Every condition between two "; " must hold. A
 * condition holds if one of its alternatives, which ", " separates, holds. The alternative "no
 * NAME" holds if option NAME is not given. In the program an option is given if it was typed, in
 * the library if it differs from its default. */
#ifndef GBSI_OPTIONS_NEEDS_H
#define GBSI_OPTIONS_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "gibbsite/status.h"

#define GBSI_NEED_SIZE 128
#define GBSI_SAID_SIZE (GBSI_NEED_SIZE + 32)

/* Whether an option is given or, if `values` is a list such as "pcd|cd", has one of these values.
 * GBSI_HELD_ELSEWHERE: the verb has no option of this name, and the condition counts as met. */
typedef enum gbsi_held { GBSI_HELD_NO, GBSI_HELD_YES, GBSI_HELD_ELSEWHERE } gbsi_held;
typedef gbsi_held gbsi_holds(const void *context, const char *name, const char *values);

/* @param said [GBSI_SAID_SIZE] out: the first condition that does not hold, as in "applies with
 * --method pcd|cd or --probes only". @return whether all conditions hold. */
bool gbsi_needs_hold(const char *needs, gbsi_holds *holds, const void *context, char *said);

/* Whether `condition`, such as "sampled", is one of the conditions in `needs`. */
bool gbsi_needs_have(const char *needs, const char *condition);

/* Whether a value is one of `words`, a list such as "a|b". */
bool gbsi_is_among(const char *value, const char *words);

/* Tells whether an option of herding has an effect with a drawing method. These options are "keys",
 * "herd-rule", "herd-init", "bin-edge", "bin-rule", "bins", "threshold" and "dummy-edges". Callers
 * use this function to refuse an option that has no effect, even if it was given with its default
 * value. gbs_run_new() refuses only values that do not fit the draw. Defined in draw/draws.c.
 * @param draw a gbs_draw_kind.
 * @return GBS_ERR_ARGUMENT, with the reason, if the draw keeps no weights from one update to the
 * next or, for "keys", has no keys. */
gbs_status gbsi_draw_takes_herding(int draw, const char *option, gbs_error *err);

/* ---- typed_numbers.c ----------------------------------------------------------------------- */

/* Reads a whole number as a person types it: "10000", "1e4", "10k", "2.5M"; k, M and G stand for
 * powers of 1000. @return false, with *value unchanged, if the text is not a whole number below
 * 2^64. */
bool gbsi_count_read(const char *text, uint64_t *value);

#endif
