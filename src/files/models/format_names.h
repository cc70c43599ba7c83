/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the format as which a file would be read, for the program, which links the static
 * library; the shared library does not export these functions. */
#ifndef GBSI_MODELS_FORMAT_NAMES_H
#define GBSI_MODELS_FORMAT_NAMES_H

#include "gibbsite/io.h"

/* @return the name of the format that a file with the extension of path is read as, or NULL. */
const char *gbsi_model_format_of(const char *path);
/* @param options NULL for the defaults. @return the sign convention with which the couplings of the
 * file would be read: "physics", "bqm" or "maxcut"; NULL if its format has no couplings. */
const char *gbsi_model_convention_of(const char *path, const gbs_read_options *options);

#endif
