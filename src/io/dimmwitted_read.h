/* SPDX-License-Identifier: Apache-2.0 */
/* What the two forms of a DimmWitted factor graph differ in while reading: one file of records. */
#ifndef GBSI_IO_DIMMWITTED_READ_H
#define GBSI_IO_DIMMWITTED_READ_H

#include "io/dimmwitted_files.h"
#include "io/dimmwitted_graph.h"
#include "io/input.h"

typedef gbs_status (*gbsi_dw_read_fn)(gbsi_dw_graph *graph, gbsi_dw_kind kind,
                                      const gbsi_input *input, const gbs_read_options *options,
                                      gbs_error *err);

/* Bytes that a record takes at least (a text file may lack the last line's end), 0: not asked. */
extern const size_t gbsi_dw_binary_bytes[GBSI_DW_N_KINDS];
extern const size_t gbsi_dw_text_bytes[GBSI_DW_N_KINDS];

gbs_status gbsi_dw_read_binary(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                               const gbs_read_options *options, gbs_error *err);
gbs_status gbsi_dw_read_text(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                             const gbs_read_options *options, gbs_error *err);

#endif
