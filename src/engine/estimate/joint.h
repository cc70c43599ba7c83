/* SPDX-License-Identifier: Apache-2.0 */
/* Joint histograms, inside: saved, loaded and added up. */
#ifndef GBSI_ESTIMATE_JOINT_H
#define GBSI_ESTIMATE_JOINT_H

#include "base/saved.h"
#include "gibbsite/joint.h"

/* As gbsi_estimate_save() and gbsi_estimate_load(). If loading fails, the
 * histograms are undefined. */
gbs_status gbsi_joint_save(const gbs_joint *joint, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_joint_load(gbs_joint *joint, const gbsi_source *source, gbs_error *err);
/* Adds the draws that another counted.
 * @return GBS_ERR_ARGUMENT if it is of other variables or chains. */
gbs_status gbsi_joint_reduce(gbs_joint *joint, const gbs_joint *other, gbs_error *err);

#endif
