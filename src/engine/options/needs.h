/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of an option, from the last column of its row, such as "method = pcd|cd, probes;
 * no intervals". Conditions separated by "; " must all hold; of alternatives separated by ", " one
 * must; "no NAME" holds if that option is not given. The program tests them on the options that
 * were typed, the library on those that differ from their defaults. */
#ifndef GBSI_OPTIONS_NEEDS_H
#define GBSI_OPTIONS_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "gibbsite/status.h"

#define GBSI_NEED_SIZE 128
#define GBSI_SAID_SIZE (GBSI_NEED_SIZE + 32)

/* Whether an option is given or, with values "pcd|cd", has one of them. ELSEWHERE: the name is not
 * an option of this verb; the condition then counts as met here. */
typedef enum gbsi_held { GBSI_HELD_NO, GBSI_HELD_YES, GBSI_HELD_ELSEWHERE } gbsi_held;
typedef gbsi_held gbsi_holds(const void *context, const char *name, const char *values);

/* @param said [GBSI_SAID_SIZE] out: the first condition that does not hold, "applies with --method
 * pcd|cd or --probes only". @return whether all hold. */
bool gbsi_needs_hold(const char *needs, gbsi_holds *holds, const void *context, char *said);

/* Whether a condition, such as "sampled", is one of `needs`. */
bool gbsi_needs_have(const char *needs, const char *condition);

/* Whether a value is among the words "a|b". */
bool gbsi_is_among(const char *value, const char *words);

/* Whether an option of herding ("keys", "herd-rule", "herd-init", "bin-edge", "bin-rule", "bins",
 * "threshold", "dummy-edges") has an effect with a draw. Callers use it to refuse an option that
 * was given without effect, even with its default value. gbs_run_new() refuses values that do not
 * fit the draw. In draw/draws.c.
 * @param draw a gbs_draw_kind.
 * @return GBS_ERR_ARGUMENT, with the reason, where the draw keeps no weights from one update to the
 *         next, or, for "keys", has no keys. */
gbs_status gbsi_draw_takes_herding(int draw, const char *option, gbs_error *err);

/* ---- typed_numbers.c ----------------------------------------------------------------------- */

/* Reads a whole number as a person types it: "10000", "1e4", "10k", "2.5M"; k, M and G stand for
 * powers of 1000. @return false, with *value untouched, if it is not a whole number below 2^64. */
bool gbsi_count_read(const char *text, uint64_t *value);

#endif
