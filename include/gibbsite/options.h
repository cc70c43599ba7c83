/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options of a run: the struct, its defaults, and every option by name.
 *
 *     gbs_error err = {0};
 *     gbs_run_options options = gbs_run_options_default();
 *     options.scan = GBS_SCAN_SYSTEMATIC;
 *     gbs_option_set(&options, "sweeps", "1000", &err);
 *
 * Options, their ranges, defaults and help are the rows of options.def; their choices are those of
 * enums.def, scans.def and draws.def. The command line is made from the same tables.
 *
 * Threads: every call is safe from any thread, as long as no other one uses the same
 * gbs_run_options. Out of range: an option or a number that does not exist is NULL or
 * GBS_ERR_ARGUMENT, as stated.
 */
#ifndef GIBBSITE_OPTIONS_H
#define GIBBSITE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The enums gbs_method, gbs_scan_kind, gbs_draw_kind, ...: see enums.def. */
/* clang-format off */
#define GBS_ENUM(type)                          typedef enum type {
#define GBS_CHOICE(symbol, number, name, help)  symbol = (number),
#define GBS_ENUM_END(type)                      } type;
#include "gibbsite/enums.def"
#undef GBS_ENUM
#undef GBS_CHOICE
#undef GBS_ENUM_END
/* clang-format on */

#define GBS_BURN_IN_AUTO UINT64_MAX
/** gbs_run_options.threshold: found before the run, see gibbsite-marginals(1). */
#define GBS_THRESHOLD_AUTO (-1.0)

/**
 * Options of a run; take gbs_run_options_default() and change fields.
 *
 * Fields keep their places: later versions append to options.def. Options that a smaller struct
 * does not have, of an earlier version from 0.2 on, have their defaults.
 */
typedef struct gbs_run_options {
    size_t size; /**< of the caller's struct in bytes, as gbs_run_options_init() wrote it */
    const uint32_t
        *sequence; /**< GBS_SCAN_SEQUENCE: variable ids; borrowed until gbs_run_new() returns */
    size_t sequence_length;
    const uint32_t *dummy_edges; /**< NULL, or [2 n_dummy_edges] pairs of variables that see each
                                    other in herding keys; borrowed until gbs_run_new() returns */
    size_t n_dummy_edges;
    const uint32_t *target; /**< with restarts: NULL, or [n_targets] the variables asked for: others
                               serve them and have no estimate; borrowed until gbs_run_new()
                               returns */
    size_t n_targets;
    const uint32_t *start; /**< NULL, or [n_variables] a state for every chain; borrowed until
                              gbs_run_new() returns */
#define GBS_OPTION_ENUM(field, name, type, def, help)                  int field;
#define GBS_OPTION_FLAG(field, name, help)                             int field;
#define GBS_OPTION_UINT(field, name, def, min, max, unit, help, unset) uint64_t field;
#define GBS_OPTION_SIZE(field, name, def, min, max, unit, help, unset) uint64_t field;
#define GBS_OPTION_REAL(field, name, def, min, max, unit, help, unset) double field;
#define GBS_OPTION_TIME(field, name, def, min, max, unit, help, unset) double field;
#define GBS_OPTION_AUTO(field, name, def, min, max, unit, help, mark)  double field;
#include "gibbsite/options.def"
#undef GBS_OPTION_ENUM
#undef GBS_OPTION_FLAG
#undef GBS_OPTION_UINT
#undef GBS_OPTION_SIZE
#undef GBS_OPTION_REAL
#undef GBS_OPTION_TIME
#undef GBS_OPTION_AUTO
} gbs_run_options;

/**
 * Set every option to its default.
 *
 * @param size sizeof(gbs_run_options) where the caller was compiled. Bytes behind the struct of
 *             this library are set to zero: a run refuses them if they are anything else.
 * @return GBS_ERR_ARGUMENT for a size without any option; options is untouched then.
 */
GBS_API gbs_status gbs_run_options_init(gbs_run_options *options, size_t size, gbs_error *err);

/** @return the defaults; gbs_run_options_init() as an expression. */
static inline gbs_run_options gbs_run_options_default(void)
{
    gbs_run_options options;
    (void)gbs_run_options_init(&options, sizeof options, NULL);
    return options;
}

/* ---- options by name --------------------------------------------------------------------- */

/** What an option is, and how its text is written. */
typedef enum gbs_option_kind {
    GBS_OPTION_KIND_CHOICE = 0,   /**< a name: see gbs_option_choice() */
    GBS_OPTION_KIND_FLAG = 1,     /**< "yes" or "no" */
    GBS_OPTION_KIND_COUNT = 2,    /**< a whole number */
    GBS_OPTION_KIND_SIZE = 3,     /**< bytes: 4096, 512M, 4G (powers of 1024) */
    GBS_OPTION_KIND_REAL = 4,     /**< a decimal number */
    GBS_OPTION_KIND_DURATION = 5, /**< seconds: 90, 90s, 10m, 2h, 1d */
} gbs_option_kind;

/** A value that an option of kind CHOICE takes; static. */
typedef struct gbs_choice {
    int number; /**< what the field holds */
    const char *name;
    const char *help;
} gbs_choice;

/**
 * A row of options.def; static. Later versions append fields.
 *
 * Numbers of a CHOICE, FLAG, COUNT or SIZE are in def, min, max and mark, those of a REAL or
 * DURATION in real_def, real_min, real_max and real_mark.
 */
typedef struct gbs_option {
    const char *name;     /**< "burn-in", as on the command line */
    const char *field;    /**< "burn_in", of gbs_run_options */
    gbs_option_kind kind; /**< decides which of the fields below are set */
    const char *unit;     /**< "passes", or what stands for the value in help: "W" */
    const char *choices;  /**< of a CHOICE: the names with '|' between them; NULL else */
    const char *help;     /**< one sentence */
    const char *word;     /**< of the one value that is a mark, not a number: "unset" or "auto";
                               NULL: there is none */
    const char *unset;    /**< what happens where the option is left unset; NULL without the mark */
    uint64_t def, min, max, mark;
    double real_def, real_min, real_max, real_mark;
} gbs_option;

/** @return how many options there are. */
GBS_API size_t gbs_option_count(void);
/** @return an option, counting from 0; NULL beyond the last. */
GBS_API const gbs_option *gbs_option_at(size_t index);
/** @return the option of that name, '_' as good as '-'; NULL if there is none. */
GBS_API const gbs_option *gbs_option_find(const char *name);
/** @return a choice of an option, counting from 0 in the order of help; NULL beyond the last, and
 *          of options of another kind. */
GBS_API const gbs_choice *gbs_option_choice(const gbs_option *option, size_t index);

/**
 * Set an option from text: a name, number, size or duration, or the option's word.
 *
 * @return GBS_ERR_ARGUMENT for an unknown option, text that is none of these or a number out of
 *         range, with a message that names the option ("--sweeps 0: must be ..."); options is
 *         untouched then. What options need of one another is checked by the run.
 */
GBS_API gbs_status gbs_option_set(gbs_run_options *options, const char *name, const char *text,
                                  gbs_error *err);
/** Write an option as text that gbs_option_set() takes.
 *  @param text [size], out. @return GBS_ERR_ARGUMENT for an unknown option or if text is too short
 *  (64 bytes are enough for any). */
GBS_API gbs_status gbs_option_get(const gbs_run_options *options, const char *name, char *text,
                                  size_t size, gbs_error *err);

/** Set an option of kind CHOICE (its number), FLAG (0 or 1), COUNT or SIZE; as gbs_option_set(). */
GBS_API gbs_status gbs_option_set_uint(gbs_run_options *options, const char *name, uint64_t value,
                                       gbs_error *err);
GBS_API gbs_status gbs_option_get_uint(const gbs_run_options *options, const char *name,
                                       uint64_t *value, gbs_error *err);
/** Set an option of kind REAL or DURATION; as gbs_option_set(). */
GBS_API gbs_status gbs_option_set_real(gbs_run_options *options, const char *name, double value,
                                       gbs_error *err);
GBS_API gbs_status gbs_option_get_real(const gbs_run_options *options, const char *name,
                                       double *value, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
