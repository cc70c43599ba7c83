/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses options that have no meaning for a format. Ignoring such options would hide a mistake of
 * the user. */
#include <math.h>

#include "base/status.h"
#include "models/formats.h"
#include "models/tables.h"

static gbs_status refuse(const gbsi_format *format, const char *path, const char *option,
                         gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %s does not apply to %s files", path, option,
                     format->name);
}

gbs_status gbsi_check_read_options(const gbsi_format *format, const char *path,
                                   const gbs_read_options *options, gbs_error *err)
{
    const double scale = options->weight_scale;
    if (options->convention != NULL && (format->takes & GBSI_TAKES_CONVENTION) == 0) {
        return refuse(format, path, "a convention of couplings", err);
    }
    if (options->diagonal != NULL && (format->takes & GBSI_TAKES_DIAGONAL) == 0) {
        return refuse(format, path, "what a diagonal means", err);
    }
    if (options->vartype != NULL && (format->takes & GBSI_TAKES_VARTYPE) == 0) {
        return refuse(format, path, "a vartype", err);
    }
    if (options->offset != 0 && (format->takes & GBSI_TAKES_VARTYPE) == 0) {
        return refuse(format, path, "a constant energy", err);
    }
    if (!isfinite(options->offset)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: a constant energy of %g, expected a finite one", path,
                         options->offset);
    }
    if (options->states != 0 && (format->takes & GBSI_TAKES_STATES) == 0) {
        return refuse(format, path, "a number of colours", err);
    }
    if (gbsi_table_order_typed(options) && (format->takes & GBSI_TAKES_TABLE_ORDER) == 0) {
        return refuse(format, path, "an order of tables", err);
    }
    if (!gbsi_table_order_known(options)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: an order of tables of '%.100s', expected parents-child, "
                         "child-parents, reversed-child or child-reversed",
                         path, options->table_order);
    }
    if (scale != 0 && scale != 1 && (format->takes & GBSI_TAKES_WEIGHT_SCALE) == 0) {
        return refuse(format, path, "a scale of weights", err);
    }
    if (!isfinite(scale) || scale < 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: a scale of weights of %g, expected one above "
                         "0 and finite",
                         path, scale);
    }
    return GBS_OK;
}

gbs_status gbsi_check_write_options(const gbsi_format *format, const char *path,
                                    const gbs_write_options *options, gbs_error *err)
{
    if (options->convention != NULL && (format->takes & GBSI_TAKES_CONVENTION) == 0) {
        return refuse(format, path, "a convention of couplings", err);
    }
    return GBS_OK;
}
