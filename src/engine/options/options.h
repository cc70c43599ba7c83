/* SPDX-License-Identifier: Apache-2.0 */
/* The implementation of gibbsite/options.h: rows with the places of their fields. */
#ifndef GBSI_OPTIONS_OPTIONS_H
#define GBSI_OPTIONS_OPTIONS_H

#include <stdbool.h>

#include "gibbsite/options.h"

/* The rows of options.def in their order. */
typedef struct gbsi_option {
    gbs_option shown;
    size_t offset, width; /* place of the field in gbs_run_options or in the struct of a question */
    const gbs_choice *choice;
    size_t n_choices;
} gbsi_option;

extern const gbsi_option gbsi_options[];
extern const size_t gbsi_n_options;

/* Whether the typed text is this name. @param joint the character that may be typed as '_'. */
bool gbsi_same_name(const char *name, const char *text, char joint);

/* The row of that name; NULL if no option has this name. */
const gbsi_option *gbsi_option_find(const char *name);

/* Whether it has its default, and to set it so. @param name name of a row. */
bool gbsi_option_is_default(const gbs_run_options *options, const char *name);
void gbsi_option_reset(gbs_run_options *options, const char *name);

/* The name of a number among the row's choices: of GBS_SCAN_RANDOM in the row of "scan", "random".
 * NULL if no choice has that number. */
const char *gbsi_option_choice_name(const gbsi_option *row, int number);

/* The value of a row in its struct: to its default, and whether it has that; from text; as text, of
 * at most 64 bytes. */
void gbsi_option_put_default(const gbsi_option *row, void *options);
bool gbsi_option_has_default(const gbsi_option *row, const void *options);
gbs_status gbsi_option_put_text(const gbsi_option *row, void *options, const char *text,
                                gbs_error *err);
gbs_status gbsi_option_get_text(const gbsi_option *row, const void *options, char *text,
                                size_t size, gbs_error *err);

/* Replaces 0 by the default unless 0 is a legal value of the option, and refuses a value out of
 * range. */
gbs_status gbsi_option_settle(const gbsi_option *row, void *options, gbs_error *err);

/* The names of the options that apply to a choice and not to all others, NULL after the last. NULL
 * if there are none, or no such choice. */
typedef const char *const *gbsi_option_names(int chosen);

/* Whether an option is among such names. */
bool gbsi_option_is_named(const char *const *names, const char *name);

/* Refuses options that other choices of a row have and the chosen one lacks; the message names
 * those that have them. @param choice_name "scan" or "draw". */
gbs_status gbsi_option_check_names(const gbs_run_options *options, const char *choice_name,
                                   int chosen, gbsi_option_names *names, gbs_error *err);

/**
 * A caller's options as this library has them, each within its range.
 *
 * @param given NULL: the defaults. Fields behind a smaller struct have their defaults.
 * @return GBS_ERR_ARGUMENT for a size below that of the first option, for anything but zeros behind
 *         the struct of this version, and for values out of range.
 */
gbs_status gbsi_options_take(const gbs_run_options *given, gbs_run_options *taken, gbs_error *err);

/* Whether the method is an approximation in place of chains, whose error is not known. */
static inline bool gbsi_options_approximate(const gbs_run_options *options)
{
    return options->method == GBS_METHOD_MEAN_FIELD || options->method == GBS_METHOD_BELIEF;
}

#endif
