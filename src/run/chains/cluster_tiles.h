/* SPDX-License-Identifier: Apache-2.0 */
/* Passes that move clusters and then update one variable after the other. */
#ifndef GBSI_CHAINS_CLUSTER_TILES_H
#define GBSI_CHAINS_CLUSTER_TILES_H

#include "cluster/cluster.h"
#include "plan/pass.h"

extern const gbsi_pass gbsi_pass_clusters;

/* The clusters of the state of such a pass. */
gbsi_clusters *gbsi_cluster_tiles_clusters(void *state);

#endif
