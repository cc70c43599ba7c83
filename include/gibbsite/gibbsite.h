/* SPDX-License-Identifier: Apache-2.0 */
/** gibbsite: sampling discrete graphical models. The umbrella of the public headers. */
#ifndef GIBBSITE_H
#define GIBBSITE_H

#include "gibbsite/arrays.h"
#include "gibbsite/cases.h"
#include "gibbsite/checkpoint.h"
#include "gibbsite/crf.h"
#include "gibbsite/denoise.h"
#include "gibbsite/diagnose.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/exact.h"
#include "gibbsite/fit.h"
#include "gibbsite/generate.h"
#include "gibbsite/ground.h"
#include "gibbsite/image.h"
#include "gibbsite/info.h"
#include "gibbsite/io.h"
#include "gibbsite/joint.h"
#include "gibbsite/learn.h"
#include "gibbsite/log_z.h"
#include "gibbsite/machines.h"
#include "gibbsite/map.h"
#include "gibbsite/model.h"
#include "gibbsite/option_fields.h"
#include "gibbsite/options.h"
#include "gibbsite/query.h"
#include "gibbsite/question.h"
#include "gibbsite/ranks.h"
#include "gibbsite/report.h"
#include "gibbsite/run.h"
#include "gibbsite/segment.h"
#include "gibbsite/sensitivity.h"
#include "gibbsite/share.h"
#include "gibbsite/status.h"
#include "gibbsite/traces.h"

#endif
