/* SPDX-License-Identifier: Apache-2.0 */
/** gibbsite: sampling discrete graphical models. What most programs need: models and evidence,
 *  questions, runs, exact answers, files. Each further header is included by its name;
 *  include/gibbsite/README.md of the sources says what is where. */
#ifndef GIBBSITE_H
#define GIBBSITE_H

#include "gibbsite/exact.h"
#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/query.h"
#include "gibbsite/run.h"
#include "gibbsite/status.h"

#endif
