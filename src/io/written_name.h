/* SPDX-License-Identifier: Apache-2.0 */
/* Names for formats that cannot do without, and finding one. */
#ifndef GBSI_IO_WRITTEN_NAME_H
#define GBSI_IO_WRITTEN_NAME_H

#include <stdbool.h>

#include "gibbsite/model.h"

#define GBSI_MADE_NAME 64

/* A variable's name, or x and its number with underscores until that is nobody's.
 * @param made [GBSI_MADE_NAME], holds a name that was made. @param name out, borrowed. */
gbs_status gbsi_written_name(const gbs_model *model, uint32_t variable, char *made,
                             const char **name, gbs_error *err);

/* The variable of that name. Unlike gbs_model_find_variable() it looks for no near misses. */
bool gbsi_find_name(const gbs_model *model, const char *name, uint32_t *variable);

/* GBS_ERR_UNSUPPORTED "the name NAME cannot be written in FORMAT: WHY". */
gbs_status gbsi_refuse_name(const char *name, const char *format, const char *why, gbs_error *err);

#endif
