/* SPDX-License-Identifier: Apache-2.0 */
/* The implementation of gibbsite/options.h: rows of options, with the places of their fields. */
#ifndef GBSI_OPTIONS_OPTIONS_H
#define GBSI_OPTIONS_OPTIONS_H

#include <stdbool.h>

#include "gibbsite/options.h"

/* A row of options.def. gbsi_options holds all rows in their order. */
typedef struct gbsi_option {
    gbs_option shown;
    size_t offset, width; /* place of the field in gbs_run_options or in the struct of a question */
    const gbs_choice *choice;
    size_t n_choices;
} gbsi_option;

extern const gbsi_option gbsi_options[];
extern const size_t gbsi_n_options;

/* Whether a typed text names an option. @param joint character that may be typed as '_' wherever
 * the name has it. */
bool gbsi_same_name(const char *name, const char *text, char joint);

/* Returns the row of the option with this name; NULL if there is no such option. */
const gbsi_option *gbsi_option_find(const char *name);

/* gbsi_option_is_default() tells whether an option has its default value, and gbsi_option_reset()
 * sets it to its default. @param name name of a row of options.def. */
bool gbsi_option_is_default(const gbs_run_options *options, const char *name);
void gbsi_option_reset(gbs_run_options *options, const char *name);

/* Returns the name of the choice with a given number, such as "random" for GBS_SCAN_RANDOM in the
 * row of "scan". NULL if no choice has this number. */
const char *gbsi_option_choice_name(const gbsi_option *row, int number);

/* Functions on the value of an option in a struct of options: set the value to the default, compare
 * it with the default, set it from a text, and write it as a text. */
void gbsi_option_put_default(const gbsi_option *row, void *options);
bool gbsi_option_has_default(const gbsi_option *row, const void *options);
gbs_status gbsi_option_put_text(const gbsi_option *row, void *options, const char *text,
                                gbs_error *err);
gbs_status gbsi_option_get_text(const gbsi_option *row, const void *options, char *text,
                                size_t size, gbs_error *err);

/* Replaces the value of an option by the default if the value is 0 and 0 is not legal, and refuses
 * a value out of range. */
gbs_status gbsi_option_settle(const gbsi_option *row, void *options, gbs_error *err);

/* Returns the names of the options that apply to a choice but not to all other choices, with NULL
 * after the last name. Returns NULL if there are no such options or no such choice. */
typedef const char *const *gbsi_option_names(int chosen);

/* Whether `names`, a list that ends with NULL, has the name of an option. */
bool gbsi_option_is_named(const char *const *names, const char *name);

/* Refuses options that differ from their defaults and apply only to other choices of "scan" or
 * "draw". The message lists the choices to which the option applies. @param choice_name "scan" or
 * "draw". */
gbs_status gbsi_option_check_names(const gbs_run_options *options, const char *choice_name,
                                   int chosen, gbsi_option_names *names, gbs_error *err);

/**
 * Copies a caller's options to the struct of this version, and checks that each is within its
 * range.
 *
 * @param given NULL: the defaults. Fields that a smaller struct lacks get their defaults.
 * @return GBS_ERR_ARGUMENT for a struct too small for the first option, for nonzero bytes behind
 * the struct of this version, and for values out of range. */
gbs_status gbsi_options_take(const gbs_run_options *given, gbs_run_options *taken, gbs_error *err);

/* Whether the options choose a method that replaces chains by an approximation of unknown error. */
static inline bool gbsi_options_approximate(const gbs_run_options *options)
{
    return options->method == GBS_METHOD_MEAN_FIELD || options->method == GBS_METHOD_BELIEF;
}

#endif
