/* SPDX-License-Identifier: Apache-2.0 */
/* What writers of this folder need of a gbs_output beyond the public calls. */
#ifndef GBSI_TEXT_OUTPUT_H
#define GBSI_TEXT_OUTPUT_H

#include <stdbool.h>

#include "gibbsite/io.h"

/* From now on numbers are written as [-]digits[.digits]: some readers know no exponents. */
void gbsi_output_fixed_floats(gbs_output *output, bool fixed);
bool gbsi_output_has_fixed_floats(const gbs_output *output);

/* gbs_output_commit_all() whatever set this thread has begun. */
gbs_status gbsi_output_commit_now(gbs_output *const *output, size_t n, gbs_error *err);

/* The path, or a word for standard output: for messages. */
const char *gbsi_output_name(const gbs_output *output);

/* What was written so far, before any compression. */
uint64_t gbsi_output_length(const gbs_output *output);

/* A decimal, "-1.5e-7" say, in the form that the output asks for. @param n its length. */
void gbsi_output_decimal(gbs_output *output, const char *text, size_t n);

#endif
