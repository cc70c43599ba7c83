/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a graph being written: open side by side, put into place together. */
#ifndef GBSI_IO_DIMMWITTED_OUTPUTS_H
#define GBSI_IO_DIMMWITTED_OUTPUTS_H

#include "gibbsite/io.h"
#include "io/dimmwitted_files.h"

typedef struct gbsi_dw_outputs {
    gbsi_dw_form form;
    gbsi_dw_place place;
    bool fixed_floats;
    gbs_output *meta;
    void *companion; /* gbs_output * [n_companions] */
    void *name;      /* char * [n_companions] */
    size_t n_companions, companion_capacity, name_capacity;
} gbsi_dw_outputs;

/* @param path as the user named the graph. */
gbs_status gbsi_dw_outputs_init(gbsi_dw_outputs *outputs, const char *path, gbsi_dw_form form,
                                const gbs_write_options *options, gbs_error *err);
/* Drops what is not committed. */
void gbsi_dw_outputs_free(gbsi_dw_outputs *outputs);

/* Open the companion kind + tail, with .gz if the meta file has it (but for arguments).
 * @param output out, borrowed. */
gbs_status gbsi_dw_outputs_open(gbsi_dw_outputs *outputs, gbsi_dw_kind kind, const char *tail,
                                gbs_output **output, gbs_error *err);
gbs_status gbsi_dw_outputs_open_meta(gbsi_dw_outputs *outputs, gbs_output **output, gbs_error *err);

/* Everything into place, the meta file last. GBS_ERR_ARGUMENT, and nothing is, if a companion that
 * is there already would stay. */
gbs_status gbsi_dw_outputs_commit(gbsi_dw_outputs *outputs, gbs_error *err);

#endif
