/* SPDX-License-Identifier: Apache-2.0 */
/* The work of labelling and learning (learn/work.h), and the memory that counts for their limit. */
#ifndef GBSI_CRF_WORK_H
#define GBSI_CRF_WORK_H

#include "crf/model.h"
#include "learn/work.h"

/* @return the number of bytes, roughly, for the memory limit. */
uint64_t gbsi_sequences_bytes(const gbs_sequences *sequences);
uint64_t gbsi_crf_bytes(const gbs_crf *crf);

#endif
