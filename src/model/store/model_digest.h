/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_STORE_MODEL_DIGEST_H
#define GBSI_STORE_MODEL_DIGEST_H

#include "base/digest.h"

/* Entries of a table that is fed itself; of longer ones the digest of the entries is. */
#define GBSI_SHORT_TABLE 64u

/* Starts the digest of a model. The caller then adds, in this order: arities, kinds, sizes of
 * scopes, scopes, weights, then the contents of logical factors and of tables. */
void gbsi_model_digest_begin(gbsi_digest *digest, uint8_t directed, uint64_t n_variables,
                             uint64_t n_factors);

#endif
