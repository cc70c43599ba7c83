/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that find the format in which a file would be read. The program calls these functions
 * and links the static library. The shared library does not export them. */
#ifndef GBSI_MODELS_FORMAT_NAMES_H
#define GBSI_MODELS_FORMAT_NAMES_H

#include "gibbsite/io.h"

/* @return the name of the format that has the file name extension of `path`; NULL if no format has
 *   it. */
const char *gbsi_model_format_of(const char *path);
/* @param options NULL for the defaults.
 * @return the sign convention with which the couplings of the file would be read: "physics", "bqm"
 *   or "maxcut". NULL if the format has no couplings. */
const char *gbsi_model_convention_of(const char *path, const gbs_read_options *options);

#endif
