/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers of model formats, one pair per format; registry.c lists them. */
#ifndef GBSI_IO_FORMATS_H
#define GBSI_IO_FORMATS_H

#include "io/text.h"

gbs_status gbsi_uai_read(gbsi_text *text, gbs_model **model, gbs_error *err);
gbs_status gbsi_uai_write(const gbs_model *model, gbs_output *output, gbs_error *err);
gbs_status gbsi_lg_read(gbsi_text *text, gbs_model **model, gbs_error *err);
gbs_status gbsi_lg_write(const gbs_model *model, gbs_output *output, gbs_error *err);
gbs_status gbsi_bif_read(gbsi_text *text, gbs_model **model, gbs_error *err);
gbs_status gbsi_bif_write(const gbs_model *model, gbs_output *output, gbs_error *err);

#endif
