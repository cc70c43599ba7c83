/* SPDX-License-Identifier: Apache-2.0 */
/* What labelling and learning take from learn/work.h, and what counts for their memory limit. */
#ifndef GBSI_CRF_WORK_H
#define GBSI_CRF_WORK_H

#include "crf/model.h"
#include "learn/work.h"

/* Bytes, roughly, for the memory limit. */
uint64_t gbsi_sequences_bytes(const gbs_sequences *sequences);
uint64_t gbsi_crf_bytes(const gbs_crf *crf);

#endif
