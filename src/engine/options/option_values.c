/* SPDX-License-Identifier: Apache-2.0 */
/* Sets, reads and checks option values, and converts them from and to text. */
#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/status.h"
#include "decimal/decimal.h"
#include "gibbsite/io.h"
#include "options/needs.h"
#include "options/options.h"

/* The smallest legal size of a caller's struct; a smaller struct would have no option. See
 * tests/conformance/growth_test.c. */
#define LEAST_SIZE offsetof(gbs_run_options, method)

_Static_assert(sizeof(gbs_run_options) == offsetof(gbs_run_options, clusters) + sizeof(uint64_t),
               "padding behind the last field: a later version's field would lie in it");

/* ---- fields ------------------------------------------------------------------------------ */

static bool is_real(const gbsi_option *option)
{
    return option->shown.kind == GBS_OPTION_KIND_REAL ||
           option->shown.kind == GBS_OPTION_KIND_DURATION;
}

static bool is_int(const gbsi_option *option)
{
    return option->shown.kind == GBS_OPTION_KIND_CHOICE ||
           option->shown.kind == GBS_OPTION_KIND_FLAG;
}

static bool is_text(const gbsi_option *option)
{
    return option->shown.kind == GBS_OPTION_KIND_TEXT;
}

/* Returns the value of a whole-number option. A negative number becomes a large number and fails
 * the range check, because no enum has a negative choice. */
static uint64_t whole_of(const gbsi_option *option, const void *options)
{
    const char *field = (const char *)options + option->offset;
    int32_t small = 0;
    uint64_t whole = 0;
    if (option->width == sizeof small) {
        memcpy(&small, field, sizeof small);
        return is_int(option) ? (uint64_t)(int64_t)small : (uint32_t)small;
    }
    assert(option->width == sizeof whole);
    memcpy(&whole, field, sizeof whole);
    return whole;
}

static double real_of(const gbsi_option *option, const void *options)
{
    double real = 0.0;
    memcpy(&real, (const char *)options + option->offset, sizeof real);
    return real;
}

/* Stores a value. @param value must be in the option's range. */
static void put_whole(const gbsi_option *option, void *options, uint64_t value)
{
    char *field = (char *)options + option->offset;
    const uint32_t small = (uint32_t)value;
    if (option->width == sizeof small) {
        memcpy(field, &small, sizeof small);
    } else {
        memcpy(field, &value, sizeof value);
    }
}

static void put_real(const gbsi_option *option, void *options, double value)
{
    memcpy((char *)options + option->offset, &value, sizeof value);
}

/* Stores a text. @param text borrowed; "" is stored as NULL. */
static void put_pointer(const gbsi_option *option, void *options, const char *text)
{
    const char *kept = text == NULL || text[0] == '\0' ? NULL : text;
    memcpy((char *)options + option->offset, &kept, sizeof kept);
}

/* Returns the text of an option; "" if the field is NULL. */
static const char *pointer_of(const gbsi_option *option, const void *options)
{
    const char *kept = NULL;
    memcpy(&kept, (const char *)options + option->offset, sizeof kept);
    return kept == NULL ? "" : kept;
}

/* ---- ranges ------------------------------------------------------------------------------ */

/* @param marks whether the number that stands for "not set" is accepted. */
static gbs_status check_whole(const gbsi_option *row, uint64_t value, bool marks, gbs_error *err)
{
    const gbs_option *option = &row->shown;
    if (option->kind == GBS_OPTION_KIND_CHOICE) {
        if (gbsi_option_choice_name(row, (int)value) == NULL ||
            (uint64_t)(int64_t)(int)value != value) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--%s: found %" PRId64 ", which is not the number of a choice",
                             option->name, (int64_t)value);
        }
        return GBS_OK;
    }
    if (marks && option->word != NULL && value == option->mark) {
        return GBS_OK;
    }
    if (value < option->min || value > option->max) {
        const char *between = option->unit[0] == '\0' ? "" : " (";
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--%s %" PRIu64 ": must be from %" PRIu64 " to %" PRIu64 "%s%s%s",
                         option->name, value, option->min, option->max, between, option->unit,
                         between[0] == '\0' ? "" : ")");
    }
    return GBS_OK;
}

/* Returns the least value of an option, as messages show it. A least value of DBL_TRUE_MIN, which
 * means "above 0", is shown as 0. */
static double typed_least(const gbs_option *option)
{
    return option->real_min == DBL_TRUE_MIN ? 0.0 : option->real_min;
}

static gbs_status check_real(const gbsi_option *row, double value, bool marks, gbs_error *err)
{
    const gbs_option *option = &row->shown;
    const bool open = option->word != NULL && option->real_min == option->real_mark;
    if (marks && option->word != NULL && value == option->real_mark) {
        return GBS_OK;
    }
    if (!(value >= option->real_min && value <= option->real_max) ||
        (open && value == option->real_min)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s %g: must be %s %g and at most %g (%s)",
                         option->name, value, open ? "above" : "at least", typed_least(option),
                         option->real_max, option->unit);
    }
    return GBS_OK;
}

static gbs_status check_row(const gbsi_option *row, const void *options, gbs_error *err)
{
    return is_real(row) ? check_real(row, real_of(row, options), true, err)
                        : check_whole(row, whole_of(row, options), true, err);
}

/* ---- whole structs ----------------------------------------------------------------------- */

void gbsi_option_put_default(const gbsi_option *row, void *options)
{
    if (is_text(row)) {
        put_pointer(row, options, NULL);
    } else if (is_real(row)) {
        put_real(row, options, row->shown.real_def);
    } else {
        put_whole(row, options, row->shown.def);
    }
}

bool gbsi_option_has_default(const gbsi_option *row, const void *options)
{
    return is_real(row) ? real_of(row, options) == row->shown.real_def
                        : whole_of(row, options) == row->shown.def;
}

static void set_defaults(gbs_run_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    for (size_t i = 0; i < gbsi_n_options; ++i) {
        gbsi_option_put_default(&gbsi_options[i], options);
    }
}

void gbsi_option_reset(gbs_run_options *options, const char *name)
{
    gbsi_option_put_default(gbsi_option_find(name), options);
}

bool gbsi_option_is_default(const gbs_run_options *options, const char *name)
{
    return gbsi_option_has_default(gbsi_option_find(name), options);
}

gbs_status gbs_run_options_init(gbs_run_options *options, size_t size, gbs_error *err)
{
    gbs_run_options defaults;
    if (options == NULL || size < LEAST_SIZE) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_run_options_init: found %zu bytes, expected at least %zu", size,
                         LEAST_SIZE);
    }
    set_defaults(&defaults);
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
    return GBS_OK;
}

/* Copies the fields that a caller's struct, which may be shorter, has; the other fields keep their
 * defaults. */
static void take_fields(const gbs_run_options *given, gbs_run_options *options)
{
    const size_t size = options->size;
    memcpy(options, given, LEAST_SIZE);
    options->size = size;
    for (size_t i = 0; i < gbsi_n_options; ++i) {
        const gbsi_option *row = &gbsi_options[i];
        if (row->offset + row->width <= given->size) {
            memcpy((char *)options + row->offset, (const char *)given + row->offset, row->width);
        }
    }
}

gbs_status gbsi_options_take(const gbs_run_options *given, gbs_run_options *taken, gbs_error *err)
{
    gbs_run_options options;
    set_defaults(&options);
    if (given != NULL) {
        if (given->size < LEAST_SIZE) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "gbs_run_options.size: found %zu, expected at least %zu: start from "
                             "gbs_run_options_default()",
                             given->size, LEAST_SIZE);
        }
        if (gbsi_struct_has_more(given, sizeof options, given->size)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "gbs_run_options.size: found %zu, this version knows %zu, and a "
                             "later field is not zero: it sets an option of a later version",
                             given->size, sizeof options);
        }
        take_fields(given, &options);
    }
    for (size_t i = 0; i < gbsi_n_options; ++i) {
        GBSI_PASS(check_row(&gbsi_options[i], &options, err));
    }
    *taken = options;
    return GBS_OK;
}

/* ---- one option -------------------------------------------------------------------------- */

/* Finds the row of an option. Fails if the option's field is not within the caller's struct. */
static gbs_status find(const gbs_run_options *options, const char *name, const gbsi_option **row,
                       gbs_error *err)
{
    *row = gbsi_option_find(name);
    if (options == NULL || name == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s is NULL", options == NULL ? "options" : "name");
    }
    if (*row == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no option \"%.100s\"", name);
    }
    if ((*row)->offset + (*row)->width > options->size) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--%s: gbs_run_options of %zu bytes come from an earlier version, which "
                         "does not have this option",
                         name, options->size);
    }
    return GBS_OK;
}

/* Finds the row of an option whose values are real numbers (if `real`) or whole numbers. */
static gbs_status find_number(const gbs_run_options *options, const char *name, bool real,
                              const gbsi_option **row, gbs_error *err)
{
    static const char *const kind[] = {
        "a choice", "a flag", "a whole number", "a size", "a real number", "a duration", "text"};
    gbs_status status = GBS_OK;
    GBSI_TRY(find(options, name, row, err));
    if (is_real(*row) != real) {
        status = gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s is %s, not %s", name,
                           kind[(*row)->shown.kind], real ? "a real number" : "a whole number");
    }
cleanup:
    return status;
}

gbs_status gbs_option_set_uint(gbs_run_options *options, const char *name, uint64_t value,
                               gbs_error *err)
{
    const gbsi_option *row = NULL;
    GBSI_PASS(find_number(options, name, false, &row, err));
    GBSI_PASS(check_whole(row, value, true, err));
    put_whole(row, options, value);
    return GBS_OK;
}

gbs_status gbs_option_get_uint(const gbs_run_options *options, const char *name, uint64_t *value,
                               gbs_error *err)
{
    GBSI_NEED(value);
    const gbsi_option *row = NULL;
    GBSI_PASS(find_number(options, name, false, &row, err));
    *value = whole_of(row, options);
    return GBS_OK;
}

gbs_status gbs_option_set_real(gbs_run_options *options, const char *name, double value,
                               gbs_error *err)
{
    const gbsi_option *row = NULL;
    GBSI_PASS(find_number(options, name, true, &row, err));
    GBSI_PASS(check_real(row, value, true, err));
    put_real(row, options, value);
    return GBS_OK;
}

gbs_status gbs_option_get_real(const gbs_run_options *options, const char *name, double *value,
                               gbs_error *err)
{
    GBSI_NEED(value);
    const gbsi_option *row = NULL;
    GBSI_PASS(find_number(options, name, true, &row, err));
    *value = real_of(row, options);
    return GBS_OK;
}

/* ---- text -------------------------------------------------------------------------------- */

/* Reads one of the suffixes K, M, G and T, with or without B or iB. @return log2 of the factor that
 * the suffix stands for, a power of 1024; 64 for any other suffix. */
static unsigned shift_of(const char *suffix)
{
    static const char LETTERS[] = "KMGT";
    if (suffix[0] == '\0') {
        return 0;
    }
    const char upper = (char)(suffix[0] >= 'a' ? suffix[0] - 'a' + 'A' : suffix[0]);
    const char *letter = strchr(LETTERS, upper);
    const bool ends =
        suffix[1] == '\0' || strcmp(suffix + 1, "B") == 0 || strcmp(suffix + 1, "iB") == 0;
    return letter == NULL || !ends ? 64 : 10 * (unsigned)(letter - LETTERS + 1);
}

static bool read_whole(const gbsi_option *row, const char *text, uint64_t *value)
{
    const size_t digits = strspn(text, "0123456789");
    bool too_large = false;
    if (row->shown.kind != GBS_OPTION_KIND_SIZE) {
        return gbsi_count_read(text, value);
    }
    if (digits == 0 || !gbsi_integer_read(text, digits, UINT64_MAX, value, &too_large)) {
        return false;
    }
    const unsigned shift = shift_of(text + digits);
    if (shift == 64 || *value > UINT64_MAX >> shift) {
        return false;
    }
    *value <<= shift;
    return true;
}

static bool read_real(const gbsi_option *row, const char *text, double *value)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1.0}, {'m', 60.0}, {'h', 3600.0}, {'d', 86400.0}};
    size_t n = strlen(text);
    double scale = 1.0;
    double divisor = 1.0;
    for (size_t i = 0; n > 0 && row->shown.kind == GBS_OPTION_KIND_DURATION && i < 4; ++i) {
        if (text[n - 1] == units[i].letter) {
            scale = units[i].seconds;
            --n;
            break;
        }
    }
    if (n > 0 && row->shown.kind == GBS_OPTION_KIND_REAL && text[n - 1] == '%') {
        --n;
        divisor = 100.0;
    }
    const bool digits =
        n > 0 && strspn(text, "0123456789.+-eE") >= n; /* excludes "inf" and "nan" */
    if (!digits || gbsi_decimal_read(text, n, value) != GBSI_DECIMAL_OK) {
        return false;
    }
    *value = *value * scale / divisor;
    return true;
}

static gbs_status bad_text(const gbs_option *option, const char *text, gbs_error *err)
{
    static const char *const expected[] = {
        [GBS_OPTION_KIND_CHOICE] = NULL,
        [GBS_OPTION_KIND_FLAG] = "yes or no",
        [GBS_OPTION_KIND_COUNT] = "a whole number below 2^64, such as 5000, 5k or 2e6",
        [GBS_OPTION_KIND_SIZE] = "a size such as 512M or 4G",
        [GBS_OPTION_KIND_REAL] = "a number",
        [GBS_OPTION_KIND_DURATION] = "a time such as 90s, 10m or 2h",
    };
    const bool also =
        option->word != NULL && option->unset == NULL; /* the program does not accept "unset" */
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s %.100s: expected %s%s%s%s%s", option->name, text,
                     option->choices != NULL ? option->choices : expected[option->kind],
                     also ? " or " : "", also ? option->word : "",
                     option->off != NULL ? " or " : "", option->off != NULL ? option->off : "");
}

static gbs_status set_int(const gbsi_option *row, void *options, const char *text, gbs_error *err)
{
    static const gbs_choice no_or_yes[] = {{0, "no", ""}, {1, "yes", ""}};
    const bool flag = row->shown.kind == GBS_OPTION_KIND_FLAG;
    const gbs_choice *choice = flag ? no_or_yes : row->choice;
    for (size_t i = 0; i < (flag ? 2 : row->n_choices); ++i) {
        if (strcmp(choice[i].name, text) == 0) {
            put_whole(row, options, (uint64_t)choice[i].number);
            return GBS_OK;
        }
    }
    return bad_text(&row->shown, text, err);
}

gbs_status gbsi_option_put_text(const gbsi_option *row, void *options, const char *text,
                                gbs_error *err)
{
    const gbs_option *option = &row->shown;
    if (text == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s: the value is NULL", option->name);
    }
    if (is_int(row)) {
        return set_int(row, options, text, err);
    }
    if (is_text(row)) {
        put_pointer(row, options, text);
        return GBS_OK;
    }
    const bool marked = option->word != NULL && strcmp(text, option->word) == 0;
    const bool off = option->off != NULL && strcmp(text, option->off) == 0;
    uint64_t whole = off ? 1 : option->mark;
    double real = option->real_mark;
    if (!marked && !off &&
        !(is_real(row) ? read_real(row, text, &real) : read_whole(row, text, &whole))) {
        return bad_text(option, text, err);
    }
    if (is_real(row)) {
        real = real == typed_least(option) ? option->real_min : real;
        GBSI_PASS(check_real(row, real, marked, err));
        put_real(row, options, real);
    } else {
        GBSI_PASS(check_whole(row, whole, marked, err));
        put_whole(row, options, whole);
    }
    return GBS_OK;
}

gbs_status gbs_option_set(gbs_run_options *options, const char *name, const char *text,
                          gbs_error *err)
{
    const gbsi_option *row = NULL;
    GBSI_PASS(find(options, name, &row, err));
    return gbsi_option_put_text(row, options, text, err);
}

/* Writes the value of an option as text. @param text [64] out. */
static void write_value(const gbsi_option *row, const void *options, char *text)
{
    const gbs_option *option = &row->shown;
    const uint64_t whole = is_real(row) ? 0 : whole_of(row, options);
    const double real = is_real(row) ? real_of(row, options) : 0.0;
    const char *word = NULL;
    if (option->kind == GBS_OPTION_KIND_CHOICE) {
        word = gbsi_option_choice_name(row, (int)whole);
    } else if (option->kind == GBS_OPTION_KIND_FLAG) {
        word = whole == 0 ? "no" : "yes";
    } else if (is_real(row) ? real == option->real_mark : whole == option->mark) {
        word = option->word;
    } else if (!is_real(row) && whole == 1) {
        word = option->off;
    }
    if (word != NULL) {
        (void)snprintf(text, 64, "%s", word);
    } else if (is_real(row)) {
        text[gbsi_format_double(real, text)] = '\0';
    } else {
        (void)snprintf(text, 64, "%" PRIu64, whole);
    }
}

gbs_status gbsi_option_get_text(const gbsi_option *row, const void *options, char *text,
                                size_t size, gbs_error *err)
{
    char number[64];
    const char *written = is_text(row) ? pointer_of(row, options) : number;
    if (!is_text(row)) {
        write_value(row, options, number);
    }
    if (text == NULL || strlen(written) >= size) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--%s: the value \"%.100s\" needs more than %zu bytes", row->shown.name,
                         written, text == NULL ? 0 : size);
    }
    memcpy(text, written, strlen(written) + 1);
    return GBS_OK;
}

gbs_status gbs_option_get(const gbs_run_options *options, const char *name, char *text, size_t size,
                          gbs_error *err)
{
    const gbsi_option *row = NULL;
    GBSI_PASS(find(options, name, &row, err));
    return gbsi_option_get_text(row, options, text, size, err);
}

gbs_status gbsi_option_settle(const gbsi_option *row, void *options, gbs_error *err)
{
    const bool real = is_real(row);
    const gbs_option *option = &row->shown;
    if (is_text(row)) {
        return GBS_OK;
    }
    const bool zero = real ? real_of(row, options) == 0.0 : whole_of(row, options) == 0;
    const bool legal = real ? option->real_min <= 0.0 &&
                                  (option->word == NULL || option->real_mark != option->real_min)
                       : option->kind == GBS_OPTION_KIND_CHOICE
                           ? gbsi_option_choice_name(row, 0) != NULL
                           : option->min == 0;
    if (zero && !legal) {
        gbsi_option_put_default(row, options);
    }
    return check_row(row, options, err);
}

/* ---- options of single scans or draws ------------------------------------------------------- */

bool gbsi_option_is_named(const char *const *names, const char *name)
{
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0) {
        ++names;
    }
    return names != NULL && *names != NULL;
}

/* Fails with a message that lists the choices to which the option applies. */
static gbs_status refuse_name(const gbsi_option *choice, gbsi_option_names *names, const char *name,
                              gbs_error *err)
{
    char who[160] = "";
    size_t n = 0;
    const char *kind_name = NULL;
    for (int kind = 0; (kind_name = gbsi_option_choice_name(choice, kind)) != NULL; ++kind) {
        if (n < sizeof who && gbsi_option_is_named(names(kind), name)) {
            n += (size_t)snprintf(who + n, sizeof who - n, "%s%s", n > 0 ? ", " : "", kind_name);
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s applies with --%s %s only", name,
                     choice->shown.name, who);
}

gbs_status gbsi_option_check_names(const gbs_run_options *options, const char *choice_name,
                                   int chosen, gbsi_option_names *names, gbs_error *err)
{
    const gbsi_option *choice = gbsi_option_find(choice_name);
    for (int kind = 0; gbsi_option_choice_name(choice, kind) != NULL; ++kind) {
        for (const char *const *name = names(kind); name != NULL && *name != NULL; ++name) {
            if (!gbsi_option_is_named(names(chosen), *name) &&
                !gbsi_option_is_default(options, *name)) {
                return refuse_name(choice, names, *name, err);
            }
        }
    }
    return GBS_OK;
}
