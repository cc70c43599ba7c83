/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options of a run: the struct, its defaults, and every option by name.
 *
 *     gbs_error err = {0};
 *     gbs_run_options options = gbs_run_options_default();
 *     options.scan = GBS_SCAN_SYSTEMATIC;
 *     gbs_option_set(&options, "sweeps", "1000", &err);
 *
 * The rows of options.def define the options with their ranges, defaults and help; enums.def,
 * scans.def and draws.def define their choices. The command line, and option_fields.h with the
 * fields of gbs_run_options, are made from the same tables.
 *
 * A field with a choice is an int, and its comment names the enum. A field of the enum's type would
 * have a size and sign that the language leaves to the compiler. With -fshort-enums the enum is a
 * byte, so that the fields behind it lie elsewhere than in the library. GCC and clang make these
 * enums unsigned, and then warn of every int that is compared with such a field or assigned to it.
 * In C++ a number from a table or another language would need a cast.
 *
 * Threads: every call may be made from any thread, as long as no other thread uses the same
 * gbs_run_options. Errors: for an option or an index that does not exist, calls return NULL or
 * GBS_ERR_ARGUMENT, as stated.
 */
#ifndef GIBBSITE_OPTIONS_H
#define GIBBSITE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/option_fields.h" /* gbs_run_options and its enums */
#include "gibbsite/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_BURN_IN_AUTO UINT64_MAX
/** An entry of a sequence of updates that is no variable: the update takes a variable drawn
 * uniformly from the free variables. gbs_scan_optimise() leaves such entries if it is stopped
 * early. It accepts them in the scan that it improves, and so do gbs_variation(),
 * gbs_variation_within() and scan files. Runs and coupled chains refuse them. */
#define GBS_STEP_UNIFORM UINT32_MAX
/** Value of gbs_run_options.threshold: trial runs find the threshold; see --threshold in
 * gibbsite-marginals(1). */
#define GBS_THRESHOLD_AUTO (-1.0)
/** Value of gbs_run_options.damping: no damping, except that belief propagation has a damping of
 * 0.5 after 50 iterations. */
#define GBS_DAMPING_AUTO 0.0
/** Values of gbs_run_options.temper that are not a number of temperatures. */
#define GBS_TEMPER_AUTO UINT64_C(0)
#define GBS_TEMPER_OFF  UINT64_C(1)

/**
 * Set every option to its default.
 *
 * @param size sizeof(gbs_run_options) in the caller's program. If it is larger than the struct of
 *             this library, the bytes beyond that struct are set to zero, and gbs_run_new() refuses
 *             options in which they are not zero.
 * @return GBS_ERR_ARGUMENT for a size that is too small for any option; options is then untouched.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_options_init(gbs_run_options *options, size_t size,
                                                     gbs_error *err);

/** @return a struct in which gbs_run_options_init() has set every option to its default. */
static inline gbs_run_options gbs_run_options_default(void)
{
    gbs_run_options options;
    const gbs_status cannot_fail = gbs_run_options_init(&options, sizeof options, NULL);
    (void)cannot_fail;
    return options;
}

/* ---- options by name --------------------------------------------------------------------- */

/** The type of an option's value, and how the value is written as text. */
typedef enum gbs_option_kind {
    GBS_OPTION_KIND_CHOICE = 0,   /**< a name from a list, see gbs_option_choice() */
    GBS_OPTION_KIND_FLAG = 1,     /**< "yes" or "no" */
    GBS_OPTION_KIND_COUNT = 2,    /**< a whole number */
    GBS_OPTION_KIND_SIZE = 3,     /**< bytes: 4096, 512M, 4G (powers of 1024) */
    GBS_OPTION_KIND_REAL = 4,     /**< a decimal number */
    GBS_OPTION_KIND_DURATION = 5, /**< seconds: 90, 90s, 10m, 2h, 1d */
    GBS_OPTION_KIND_TEXT = 6,     /**< any text; only questions have options of this kind */
} gbs_option_kind;

/** One of the values of an option of kind CHOICE; the object is static and never freed. */
typedef struct gbs_choice {
    int number; /**< value of the option's field for this choice */
    const char *name;
    const char *help;
} gbs_choice;

/**
 * An option: a row of options.def; static. Later versions append fields.
 *
 * For a CHOICE, FLAG, COUNT or SIZE the default, the range and the mark are in def, min, max and
 * mark; for a REAL or DURATION they are in real_def, real_min, real_max and real_mark. The mark is
 * a value that has a word instead of a number, such as "unset".
 */
typedef struct gbs_option {
    const char *name;     /**< name on the command line, such as "burn-in" */
    const char *field;    /**< name of the field of gbs_run_options, such as "burn_in" */
    gbs_option_kind kind; /**< decides which of the fields below are set */
    const char *unit; /**< unit, such as "passes", or the letter that stands for the value in help,
                         such as "W" */
    /** CHOICE: the names of the choices with '|' between them; other kinds: NULL */
    const char *choices;
    const char *help;  /**< help text, one sentence */
    const char *word;  /**< the word for the mark, "unset" or "auto"; NULL: there is no mark */
    const char *unset; /**< behaviour of the library if the option is unset; NULL: cannot be unset
                        */
    uint64_t def, min, max, mark;
    double real_def, real_min, real_max, real_mark;
    const char *off; /**< COUNT: the word for the value 1, "off"; NULL: there is no such word */
} gbs_option;

/** @return the number of options. */
GBS_API size_t gbs_option_count(void);
/** @return the option with a 0-based index; NULL beyond the last. */
GBS_API const gbs_option *gbs_option_at(size_t index);
/** @return the option with this name; '_' may be written for '-' in the name; NULL if no option has
 * this name. */
GBS_API const gbs_option *gbs_option_find(const char *name);
/** @return the choice with a 0-based index, in the order of gbs_option.choices; NULL beyond the
 *          last, and for options that are not of kind CHOICE. */
GBS_API const gbs_choice *gbs_option_choice(const gbs_option *option, size_t index);

/**
 * Set an option from text: a name, a number ("10k", "5%"), a size ("512M", powers of 1024), a
 * duration ("90s"), or the option's word for its mark.
 *
 * @return GBS_ERR_ARGUMENT for an unknown option, for text that the option does not take and for a
 *         number out of range; the message names the option ("--sweeps 0: must be ...") and options
 *         is untouched. Whether options fit together is checked by gbs_run_new().
 */
GBS_API GBS_MUST_USE gbs_status gbs_option_set(gbs_run_options *options, const char *name,
                                               const char *text, gbs_error *err);
/** Write the value of an option as text that gbs_option_set() accepts.
 *  @param text [size], out; 64 bytes are always enough.
 *  @return GBS_ERR_ARGUMENT for an unknown option, or if size is too small. */
GBS_API GBS_MUST_USE gbs_status gbs_option_get(const gbs_run_options *options, const char *name,
                                               char *text, size_t size, gbs_error *err);

/** Set an option of kind CHOICE (value: gbs_choice.number), FLAG (0 or 1), COUNT or SIZE. Errors
 * are those of gbs_option_set(). */
GBS_API GBS_MUST_USE gbs_status gbs_option_set_uint(gbs_run_options *options, const char *name,
                                                    uint64_t value, gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_option_get_uint(const gbs_run_options *options,
                                                    const char *name, uint64_t *value,
                                                    gbs_error *err);
/** Set an option of kind REAL or DURATION. Fails as gbs_option_set() does. */
GBS_API GBS_MUST_USE gbs_status gbs_option_set_real(gbs_run_options *options, const char *name,
                                                    double value, gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_option_get_real(const gbs_run_options *options,
                                                    const char *name, double *value,
                                                    gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
