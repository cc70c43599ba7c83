/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/model.h"

uint64_t gbsi_sequences_bytes(const gbs_sequences *sequences)
{
    const uint64_t per_token = sequences->n_columns * sizeof *sequences->text +
                               sizeof *sequences->line + sizeof *sequences->first;
    return sequences->n_tokens * per_token;
}

uint64_t gbsi_crf_bytes(const gbs_crf *crf)
{
    const uint64_t per_feature = sizeof *crf->unigram + sizeof *crf->bigram +
                                 2 * sizeof(gbsi_name_entry) + 2 * sizeof(size_t);
    return crf->features.n * per_feature + crf->n_weights * sizeof *crf->weight;
}
